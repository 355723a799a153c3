package dependency

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// requirement is a dependency under the name it is looked up by.
type requirement struct {
	object Object
	want   Compliance
}

// stated is a requirement and where it was written: as which element of spec.dependencies, or of the
// extraDependencies of template if this is not negative.
type stated struct {
	requirement
	template, element int
}

func (s stated) path() *field.Path {
	path := field.NewPath("spec")
	if s.template < 0 {
		return path.Child("dependencies").Index(s.element)
	}
	return templatePath(s.template).Child("extraDependencies").Index(s.element)
}

func templatePath(template int) *field.Path {
	return field.NewPath("spec", "policy-templates").Index(template)
}

// state returns dependencies as requirements, without those that have errors; template is -1 for those of the
// policy.
func state(dependencies []Dependency, template int, clusterNamespace string) ([]stated, field.ErrorList) {
	if len(dependencies) == 0 {
		return nil, nil
	}
	all := make([]stated, 0, len(dependencies))
	var errs field.ErrorList
	for i, d := range dependencies {
		s := stated{requirement{d.Object(clusterNamespace), d.Compliance}, template, i}
		if faults := validate(d, s); len(faults) > 0 {
			errs = append(errs, faults...)
			continue
		}
		all = append(all, s)
	}
	return all, errs
}

// validate returns what keeps d from naming an object and a compliance.
func validate(d Dependency, at stated) field.ErrorList {
	_, versionErr := schema.ParseGroupVersion(d.APIVersion)
	if d.APIVersion != "" && d.Kind != "" && d.Name != "" && d.Compliance.valid() && versionErr == nil {
		return nil
	}
	var errs field.ErrorList
	path := at.path()
	required := func(value, child string) {
		if value == "" {
			errs = append(errs, field.Required(path.Child(child), "a dependency names one object"))
		}
	}
	required(d.APIVersion, "apiVersion")
	if versionErr != nil {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), d.APIVersion, "want version or group/version"))
	}
	required(d.Kind, "kind")
	required(d.Name, "name")
	if !d.Compliance.valid() {
		valid := []Compliance{Compliant, NonCompliant, Pending}
		errs = append(errs, field.NotSupported(path.Child("compliance"), d.Compliance, valid))
	}
	return errs
}

// union returns each object of both lists once, sorted, with an error for each element of own that wants another
// compliance of an object than what stands before it (P1); common stands before own, which is sorted in place if it stands alone.
func union(common, own []stated) ([]requirement, field.ErrorList) {
	all := own
	if len(common) > 0 {
		all = slices.Concat(common, own)
	}
	slices.SortFunc(all, func(a, b stated) int {
		return cmp.Or(a.object.Compare(b.object), cmp.Compare(a.template, b.template), cmp.Compare(a.element, b.element))
	})
	var errs field.ErrorList
	requirements := make([]requirement, 0, len(all))
	var first stated
	for i, s := range all {
		switch {
		case i == 0 || s.object != first.object:
			first = s
			requirements = append(requirements, s.requirement)
		case s.want != first.want && len(own) > 0 && s.template == own[0].template:
			errs = append(errs, conflict(first, s))
		}
	}
	return requirements, errs
}

func conflict(first, later stated) *field.Error {
	return field.Invalid(later.path().Child("compliance"), later.want, fmt.Sprintf("conflicts with %s at %s for the same %s",
		first.want, first.path().Child("compliance"), first.object))
}

// compiledTemplate is what a template of a policy says, read once.
type compiledTemplate struct {
	object        Object
	ignorePending bool
	requirements  []requirement
	errs          field.ErrorList
}

// compile reads the templates of a policy (P1). A template with errors has the zero Object if it can't be told
// what it creates, and keeps the requirements that can be read: it still waits for them once it is corrected, so
// a mistake must not break the cycle that another template is on.
func compile(spec PolicySpec, clusterNamespace string) []compiledTemplate {
	common, commonErrs := state(spec.Dependencies, -1, clusterNamespace)
	_, conflicts := union(nil, common)
	commonErrs = append(commonErrs, conflicts...)

	compiled := make([]compiledTemplate, len(spec.PolicyTemplates))
	created := make(map[Object]int, len(spec.PolicyTemplates))
	for i, template := range spec.PolicyTemplates {
		c := compiledTemplate{ignorePending: template.IgnorePending}
		object, errs := template.object(func() *field.Path { return templatePath(i) })
		if len(errs) == 0 {
			c.object = object.Lookup(clusterNamespace)
			if first, found := created[c.object.unversioned()]; found {
				errs = field.ErrorList{duplicate(i, first, c.object)}
			} else {
				created[c.object.unversioned()] = i
			}
		}
		extra, extraErrs := state(template.ExtraDependencies, i, clusterNamespace)
		requirements, conflicts := union(common, extra)
		c.requirements = requirements
		c.errs = slices.Concat(commonErrs, errs, extraErrs, conflicts)
		compiled[i] = c
	}
	return compiled
}

func duplicate(template, first int, object Object) *field.Error {
	err := field.Duplicate(templatePath(template).Child("objectDefinition", "metadata", "name"), object.Name)
	err.Detail = templatePath(first).String() + " creates this " + object.Kind + ", too"
	return err
}
