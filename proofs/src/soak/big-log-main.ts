// The second half of `npm run soak`: a log of a gibibyte, or of `--mib`.
import { parseArgs } from 'node:util'
import { exitAfterOutput } from '../exit.ts'
import { passBigLog } from './big-log.ts'

const { values } = parseArgs({
  options: { mib: { type: 'string' }, bound: { type: 'string' }, data: { type: 'string' } },
})
const { mib = '1024', bound = '256', data = null } = values
const { violations, figures } = await passBigLog(Number(mib), Number(bound), data)
console.log(JSON.stringify({ violations, figures }, null, 2))
console.log(violations.length === 0 ? 'The log went through whole.' : `${violations.length} violations.`)
exitAfterOutput(violations.length === 0 ? 0 : 1)
