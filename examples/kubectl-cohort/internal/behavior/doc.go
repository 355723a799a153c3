// SPDX-License-Identifier: Apache-2.0

// Package behavior says how the clusters of a simulation answer the workload.
//
// Rules do, in a document of its own kind:
//
//	apiVersion: examples.cohort-ocm.io/v1
//	kind: Behavior
//	spec:
//	  seed: 7                       # of the random shares
//	  clusters:                     # the first rule that matches a cluster decides
//	  - names: [edge-007, lab-*]    # patterns of names
//	    outcome: Fails              # or Succeeds, the default, NeverAnswers, CutOff, NotGood, or NeverValidated
//	    after: 5m                   # after it got the workload
//	    recoversAfter: 2h           # and it succeeds that long after it failed, or after its start if it never answers
//	  - selector: {matchLabels: {link: slow}}
//	    groups: [canary]            # names of decision groups
//	    after: 40m-2h             # a range: each cluster draws its own
//	    validatedAfter: 5m        # its success, where clusters are validated
//	  - rate: 0.3%                # each that matches has this chance, by itself
//	    outcome: Fails
//	  - share: 5%                   # of the clusters that match and that no earlier rule has
//	    outcome: NeverAnswers
//	  - after: 12m                  # all others
//
// A cluster that no rule matches succeeds after the fallback time. Names, selector and groups are
// ANDed; share or rate are of those that all of them match.
//
// Where clusters are validated, each that succeeds is Validating for a time of its own, and Succeeded then.
package behavior
