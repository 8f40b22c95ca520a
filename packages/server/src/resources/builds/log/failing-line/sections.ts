/** Go's results of tests and the head of a diff look like headers. They begin a group, but no section of a job. */
const notSection = /^(?:(?:PASS|FAIL|SKIP|BENCH): .*|Expected|Actual|Original|New|[ab]\/\S+|\S+\t.*)$/

/** `name` is the text of the header after "--- ". */
export const opensSection = (name: string): boolean => !notSection.test(name)

/** Agents write this row after the output of a failed command, to open its group. */
export const openMarker = /^\^\^\^ \+\+\+\s*$/
