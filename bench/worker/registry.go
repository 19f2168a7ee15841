package worker

// Params says which instance of a case is wanted.
type Params struct {
	N       int    // size; its meaning (elements, matrix order) is the case's
	DType   string // "float32", "float64", or "" where the case has one dtype
	Threads int    // threads the case may use; GOMAXPROCS is set to it as well
}

// Case is one prepared piece of work.
type Case struct {
	// Run does the work once. It is called many times in a row and timed; it
	// must leave nothing to be done later (no lazy results).
	Run func()
	// Also holds other formulations, which are measured beside Run in the same
	// rounds. It has what worker.Also names for the case.
	Also map[string]func()
	// Check returns a few numbers of the result, which the driver compares with
	// the peers' (see Summary). It may be nil.
	Check func() []float64
	// Close gives resources back before the next case is prepared. It may be nil.
	Close func()
}

// Cases maps the name of a work (the table in bench/table.py) to its maker,
// which prepares inputs and does not run anything that is to be timed. Programs
// add to it before Main.
var Cases = map[string]func(Params) (*Case, error){}

// Also names the formulations that the cases have beside Run.
var Also = map[string][]string{}

// Values maps the name of a group of measured quantities (the machine's limits,
// facts about the program) to the function that measures them.
var Values = map[string]func(threads int) (map[string]float64, error){}
