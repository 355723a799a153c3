// SPDX-License-Identifier: Apache-2.0

package search

// memo is what a result, or the record, says of the groups that there were: how many may be exposed (R66), and the breaches that last
// (R10). Which clusters a breach has stands with each cluster, a bit for each breach.
type memo struct {
	exposes  uint8
	breaches [mostLasting]lasting
}

// mostLasting is how many breaches last at a time, at most. More would be found out by a panic.
const mostLasting = 3

// lasting is a breach of a budget of some clusters; of none: there is no breach.
type lasting struct {
	is    bool
	group uint8 // none: of all groups
	of    uint8 // how many clusters the budget is of
}

const memoBits = 3 + 6*mostLasting

func (m memo) pack() (p uint64) {
	for _, b := range m.breaches {
		p = p<<6 | bit(b.is)<<5 | uint64(b.group)<<3 | uint64(b.of)
	}
	return p<<3 | uint64(m.exposes)
}

func unpackMemo(p uint64) (m memo) {
	m.exposes = uint8(p & 7)
	p >>= 3
	for i := len(m.breaches) - 1; i >= 0; i-- {
		m.breaches[i] = lasting{is: p>>5&1 == 1, group: uint8(p >> 3 & 3), of: uint8(p & 7)}
		p >>= 6
	}
	return m
}

// memos are what a plan has to remember by the rules: in the next result, and in the record.
type memos struct {
	result, record     memo
	inResult, inRecord [most]uint8 // the breaches of each cluster
}

// memos gives what the result of a plan, and the record, say of the groups that there were (R10, R48, R66).
func (j *judge) memos() (m memos) {
	if j.s.torn == partial || j.s.torn == empty {
		m.result = j.s.before
		for i := range most {
			m.inResult[i] = j.s.clusters[i].lasts
		}
		if j.s.recorded == 0 {
			m.record = j.s.told
			for i := range most {
				m.inRecord[i] = j.s.clusters[i].toldLasts
			}
		}
		return m
	}
	m.result.exposes = uint8(j.ceiling())
	for n, b := range j.lasts {
		m.result.breaches[n] = b.lasting
		for i := range most {
			m.inResult[i] |= uint8(bit(b.clusters.has(i))) << n
		}
	}
	if !j.config.records {
		return m
	}
	m.record, m.inRecord = m.result, m.inResult
	m.record.exposes = 0
	for _, wants := range j.notes() {
		if wants.as != unrecorded && j.isCutAnew() {
			m.record.exposes = m.result.exposes
		}
	}
	return m
}
