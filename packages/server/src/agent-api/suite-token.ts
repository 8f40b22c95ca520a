// The token of a test suite. Test collectors wrap it: `Token token="…"`.
import type { Db } from '../db/pool.ts'
import { unauthorized } from '../lib/errors.ts'
import { hashToken } from '../lib/ids.ts'
import * as suites from '../resources/tests/suites/queries.ts'

export async function findSuite(db: Db, given: string): Promise<suites.SendingSuite> {
  const token = /^token="?([^"]+)"?$/.exec(given)?.[1] ?? given
  const suite = await suites.findByToken(db, hashToken(token))
  if (suite === undefined) throw unauthorized('The token of the test suite is not known.')
  return suite
}
