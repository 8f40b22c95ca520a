/** Node drops what a pipe has not taken when a process exits, such as the last lines of a report. */
export function exitAfterOutput(status: number): void {
  process.stdout.write('', () => process.exit(status))
}
