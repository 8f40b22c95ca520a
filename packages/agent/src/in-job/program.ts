// Run by the script in a job's PATH.

import { main } from './main.ts'
import { processIo } from './process-io.ts'

const status = await main(process.argv.slice(2), processIo())
// Flush the output, then exit explicitly: kept-alive connections would keep the process running.
await new Promise<void>((resolve) => {
  process.stdout.write('', () => resolve())
})
process.exit(status)
