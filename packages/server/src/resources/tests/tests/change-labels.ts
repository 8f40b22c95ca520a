import { sql } from 'kysely'
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { publishTests } from '../../../events/tests.ts'
import { forbidden, validationFailed } from '../../../lib/errors.ts'
import * as suites from '../suites/queries.ts'
import { flakyLabel } from './label-tests.ts'
import * as tests from './queries.ts'
import type { ChangeLabelsBody } from './schema.ts'

const mostLabels = 20

export async function changeLabels(
  { ctx, org, caller }: RequestContext,
  suiteSlug: string,
  testId: string,
  { operator, labels }: ChangeLabelsBody,
): Promise<void> {
  const at = ctx.now().toISOString()
  const names = [...new Set(labels.map((label) => label.trim()))]
  await inTransaction(ctx.db, async (trx) => {
    const suite = await suites.getBySlug(trx, org, caller, suiteSlug)
    await suites.holdInOrg(trx, org.id, suite.id)
    if (!suite.may_quarantine) throw forbidden()
    const test = await tests.lockInSuite(trx, org, caller, suite.id, testId)
    if (operator === 'add') {
      const { rows: added } = await sql<{ name: string; is_new: boolean }>`
        insert into test_labels as l (organization_id, suite_id, test_id, name, source, set_by, set_at)
        select ${org.id}, ${suite.id}, ${test.id}, name, 'person', ${caller.user.id}, ${at} from unnest(${names}::text[]) name
        on conflict (suite_id, test_id, name) do update set source = 'person', set_by = excluded.set_by,
          set_at = excluded.set_at where l.source = 'detected'
        returning name, xmax = 0 as is_new`.execute(trx)
      if (added.some(({ name, is_new: isNew }) => isNew && name === flakyLabel)) {
        const changed = { organizationId: org.id, suiteId: suite.id, ids: [test.id] }
        await publishTests(trx, 'test.flaky', changed, caller.user.id, at)
      }
    } else {
      await sql`
        delete from test_labels where suite_id = ${suite.id} and test_id = ${test.id} and name = any (${names}::text[])`.execute(
        trx,
      )
      // Otherwise the same evidence would bring the label back.
      if (names.includes(flakyLabel)) {
        await sql`update tests set evidence_after = ${at} where suite_id = ${suite.id} and id = ${test.id}`.execute(
          trx,
        )
      }
    }
    const { rows } = await sql<{ name: string }>`
      select name from test_labels where suite_id = ${suite.id} and test_id = ${test.id} order by name`.execute(
      trx,
    )
    if (rows.length > mostLabels) throw validationFailed(`labels: a test has at most ${mostLabels}`)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TEST_LABELS_UPDATED',
      subject: { type: 'Test', uuid: test.id, name: `${test.scope} ${test.name}`.trim().slice(0, 255) },
      data: { suite_id: suite.id, labels: rows.map(({ name }) => name) },
    })
  })
}
