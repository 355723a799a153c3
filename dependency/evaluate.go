package dependency

func (p *policy) result() PolicyResult {
	r := PolicyResult{Policy: p.name, Templates: make([]TemplateResult, len(p.templates))}
	for i, t := range p.templates {
		r.Templates[i] = t.result()
	}
	return r
}

func (t *template) result() TemplateResult {
	r := TemplateResult{Object: t.object, State: StateReady, IgnorePending: t.ignorePending}
	switch {
	case t.policy.disabled:
		r.State = StateDisabled
		return r
	case t.err != nil:
		r.State = StateInvalid
		r.Err = t.err
		return r
	}
	for _, n := range t.named {
		reason := n.observation.reason(n.want)
		if reason == "" && t.component != nil && n.target.component == t.component {
			reason = OnCycle
		}
		if reason != "" {
			r.Unmet = append(r.Unmet, Unmet{Object: n.Object, Want: n.want, Reason: reason, Observation: n.observation})
		}
	}
	if len(r.Unmet) > 0 {
		r.State = StatePending
		r.Cycle = t.cycle()
	}
	return r
}
