// Package status holds what a workload says of itself: the report of one cluster and the summary of many.
package status
