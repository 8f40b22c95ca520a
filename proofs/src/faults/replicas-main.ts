// Runs builds on many replicas, behind a load balancer, while all of them restart. `--pgbouncer`: through PgBouncer.
import { parseArgs } from 'node:util'
import { exitAfterOutput } from '../exit.ts'
import { failedRequests, manyReplicas, rollingRestart } from './replicas.ts'
import { runReplicas } from './run.ts'

const { values } = parseArgs({ options: { pgbouncer: { type: 'boolean' } } })
const hasPooler = values.pgbouncer === true
const plan = { seed: 50, faults: [rollingRestart], seconds: null, buildsPerMinute: 30, settleMs: 1000 }
const { violations, counts, ledger } = await runReplicas({ ...manyReplicas, hasPooler }, plan, console.log)
console.log(JSON.stringify(counts, null, 2))
violations.push(...failedRequests(ledger))
for (const violation of violations.slice(0, 50)) console.log(violation)
console.log(
  violations.length === 0
    ? 'No request failed, everything that was acknowledged is there exactly once, and every build has ended.'
    : `${violations.length} violations.`,
)
exitAfterOutput(violations.length === 0 ? 0 : 1)
