package check

import (
	"context"
	"fmt"

	"handover/internal/files"
	"handover/internal/text"
)

const nameFiles = "files"

// files checks that every download of the catalogue is in the bucket.
func (s Shop) files(ctx context.Context) []Check {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	products, names := s.downloads()
	if len(names) == 0 {
		return []Check{good(nameFiles, "no product has a download")}
	}
	const reach = "Correct bucket below [files]; its credentials come from the usual variables of its provider."
	bucket, err := files.Open(ctx, s.Config.FilesBucket)
	if err != nil {
		return []Check{fail(nameFiles, "the bucket cannot be opened", reach+" A folder has to exist on this machine.")}
	}
	defer bucket.Close()
	var list []Check
	for _, name := range names {
		found, err := bucket.Has(ctx, name)
		switch {
		case err != nil:
			return append(list, fail(nameFiles, "the bucket cannot be read", reach))
		case !found:
			list = append(list, fail(nameFiles, fmt.Sprintf("%s of product %s is not in the bucket: its buyers cannot download it", name, products[name]),
				"Put it there, or correct file in the product's access. Letter case counts."))
		}
	}
	if list == nil {
		list = append(list, good(nameFiles, text.Count(len(names), "file")+" in the bucket"))
	}
	return list
}

// downloads are the files of the catalogue, in its order, and a product that each belongs to.
func (s Shop) downloads() (products map[string]string, names []string) {
	products = map[string]string{}
	for _, p := range s.Config.Products {
		for _, a := range p.Access {
			if _, known := products[a.File]; a.File != "" && !known {
				products[a.File] = p.ID
				names = append(names, a.File)
			}
		}
	}
	return products, names
}
