package decisionupdate

// DiffUpTo is Diff with objects of at most so many clusters, so that small worlds are full.
var DiffUpTo = diff
