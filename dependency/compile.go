// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// dependency is what a policy says to wait for, under the name where it is found.
type dependency struct {
	object Object
	want   policyv1.ComplianceState
}

// stated is a dependency and where it was written: its index in spec.dependencies or, if template is not negative, in
// the extraDependencies of that template. A faulty one keeps its object as far as it names one, else the zero Object.
type stated struct {
	dependency
	template, element int
	faulty            bool
}

// compiledTemplate has what a template of a policy says, read once.
type compiledTemplate struct {
	object        Object
	ignorePending bool
	dependencies  []dependency
	// unnamed says that a dependency names no object.
	unnamed bool
	// errs are the faults that all templates of the policy share, and then the template's own.
	errs field.ErrorList
}

// compiler reads policies. Their templates may have these kinds. path leads to them, for errors.
type compiler struct {
	cluster cluster
	kinds   kinds
	path    *field.Path
}

// compile reads the templates of a policy, and gives the faults that they share (P1). A template with errors has the
// zero Object if it is unknown what it creates. It keeps the dependencies that name an object, whatever compliance they
// want: it waits for them once it is corrected, so a mistake must not break the cycle of another template.
func (c compiler) compile(spec *policyv1.PolicySpec) (compiled []compiledTemplate, common field.ErrorList) {
	stated, common := c.state(spec.Dependencies, -1)
	_, conflicts := c.union(nil, stated)
	common = append(common, conflicts...)
	compiled = make([]compiledTemplate, len(spec.PolicyTemplates))
	called := make(map[string][]int, len(spec.PolicyTemplates))
	for i, template := range spec.PolicyTemplates {
		compiledTemplate := compiledTemplate{ignorePending: template.IgnorePending}
		object, errs := definedBy(template, func() *field.Path { return c.template(i) })
		if object != (Object{}) {
			compiledTemplate.object = c.cluster.create(object)
			called[object.Name] = append(called[object.Name], i)
			if !c.kinds.include(object) {
				errs = append(errs, c.kinds.refuse(object, c.template(i)))
			}
		}
		extra, extraErrs := c.state(template.ExtraDependencies, i)
		dependencies, conflicts := c.union(stated, extra)
		if len(dependencies) > 0 && dependencies[0].object == (Object{}) { // It is sorted before all others.
			compiledTemplate.unnamed, dependencies = true, dependencies[1:]
		}
		compiledTemplate.dependencies = dependencies
		compiledTemplate.errs = slices.Concat(common, errs, extraErrs, conflicts)
		compiled[i] = compiledTemplate
	}
	for i := range compiled {
		if same := called[compiled[i].object.Name]; len(same) > 1 {
			compiled[i].errs = append(compiled[i].errs, c.duplicate(i, same, compiled[i].object))
		}
	}
	return compiled, common
}

// state gives the dependencies and what is wrong with them. Template is -1 for the policy's own dependencies.
func (c compiler) state(dependencies []policyv1.PolicyDependency, template int) ([]stated, field.ErrorList) {
	if len(dependencies) == 0 {
		return nil, nil
	}
	all := make([]stated, 0, len(dependencies))
	var errs field.ErrorList
	for i, policyDependency := range dependencies {
		stated := stated{dependency{c.cluster.find(named(policyDependency)), policyDependency.Compliance}, template, i, false}
		if faults := c.validate(policyDependency, stated); len(faults) > 0 {
			errs = append(errs, faults...)
			stated.faulty = true
			if !namesObject(policyDependency) {
				stated.object = Object{}
			}
		}
		all = append(all, stated)
	}
	return all, errs
}

// namesObject says whether d has all that tells one object from others.
func namesObject(dependency policyv1.PolicyDependency) bool {
	return isAPIVersion(dependency.APIVersion) && dependency.Kind != "" && dependency.Name != ""
}

// isAPIVersion says whether the text is a version, or a group and a version.
func isAPIVersion(text string) bool {
	parsed, err := schema.ParseGroupVersion(text)
	return err == nil && parsed.Version != "" && parsed.String() == text
}

// validate reports what keeps d from naming an object and a compliance that it can have.
func (c compiler) validate(dependency policyv1.PolicyDependency, at stated) field.ErrorList {
	if namesObject(dependency) && at.object.canBe(dependency.Compliance) {
		return nil
	}
	var errs field.ErrorList
	path := c.at(at)
	required := func(value, child string) {
		if value == "" {
			errs = append(errs, field.Required(path.Child(child), "must be given: a dependency names one object"))
		}
	}
	required(dependency.APIVersion, "apiVersion")
	if dependency.APIVersion != "" && !isAPIVersion(dependency.APIVersion) {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), dependency.APIVersion, "must be version or group/version"))
	}
	required(dependency.Kind, "kind")
	required(dependency.Name, "name")
	switch {
	case at.object.canBe(dependency.Compliance):
	case known(dependency.Compliance):
		errs = append(errs, field.Invalid(path.Child("compliance"), dependency.Compliance,
			fmt.Sprintf("must not be waited for: a %s never is %s", kindOf(at.object), dependency.Compliance)))
	default:
		possible := []policyv1.ComplianceState{policyv1.Compliant, policyv1.NonCompliant, policyv1.Pending}
		possible = slices.DeleteFunc(possible, func(compliance policyv1.ComplianceState) bool { return !at.object.canBe(compliance) })
		errs = append(errs, field.NotSupported(path.Child("compliance"), dependency.Compliance, possible))
	}
	return errs
}

// canBe says whether the compliance can be waited for at the object (P1).
func (o Object) canBe(compliance policyv1.ComplianceState) bool {
	return known(compliance) && !(compliance == policyv1.Pending && o.isGatekeepers())
}

func kindOf(object Object) string {
	if object.group() == constraintGroup {
		return "constraint"
	}
	return object.Kind
}

// union gives each object of both lists once, sorted. It gives an error for each element of own that wants another
// compliance of an object than an element before it (P1). A faulty element has its own error. Common comes before own.
// Own is sorted in place if common is empty.
func (c compiler) union(common, own []stated) ([]dependency, field.ErrorList) {
	all := own
	if len(common) > 0 {
		all = slices.Concat(common, own)
	}
	slices.SortFunc(all, func(a, b stated) int {
		return cmp.Or(a.object.compare(b.object), cmp.Compare(a.template, b.template), cmp.Compare(a.element, b.element))
	})
	var errs field.ErrorList
	dependencies := make([]dependency, 0, len(all))
	var first stated
	for i, stated := range all {
		switch {
		case i == 0 || stated.object != first.object:
			first = stated
			dependencies = append(dependencies, stated.dependency)
		case stated.faulty:
		case first.faulty:
			first = stated
			dependencies[len(dependencies)-1] = stated.dependency
		case stated.want != first.want && len(own) > 0 && stated.template == own[0].template:
			errs = append(errs, c.conflict(first, stated))
		}
	}
	return dependencies, errs
}

func (c compiler) conflict(first, later stated) *field.Error {
	return field.Invalid(c.at(later).Child("compliance"), later.want, fmt.Sprintf("contradicts %s, which is %s for the same %s",
		c.at(first).Child("compliance"), first.want, first.object))
}

// duplicate says that several templates of the policy have the same name, whatever their kinds: the policy's status tells
// them apart by it.
func (c compiler) duplicate(template int, same []int, object Object) *field.Error {
	other := same[0]
	if other == template {
		other = same[1]
	}
	err := field.Duplicate(c.template(template).Child("objectDefinition", "metadata", "name"), object.Name)
	err.Detail = fmt.Sprintf("%s has the same name, and each template of a policy must have a name of its own", c.template(other))
	return err
}

func (c compiler) template(template int) *field.Path {
	return c.path.Child("spec", "policy-templates").Index(template)
}

func (c compiler) at(stated stated) *field.Path {
	if stated.template < 0 {
		return c.path.Child("spec", "dependencies").Index(stated.element)
	}
	return c.template(stated.template).Child("extraDependencies").Index(stated.element)
}
