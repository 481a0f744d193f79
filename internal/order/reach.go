package order

// Reach is proof that the buyer has it.
type Reach string

// The kinds of proof: the page behind the emailed link was open for a while, or a file was asked for.
const (
	ReachOpened     Reach = "opened"
	ReachDownloaded Reach = "downloaded"
)
