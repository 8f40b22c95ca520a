import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld } from '../../test/agent-client.ts'
import { useOwnApp } from '../../test/app.ts'
import { aPipeline } from '../../test/builders.ts'
import { aBuild } from '../../test/runs.ts'
import { handlers } from '../worker.ts'

const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '0', MILLRACE_AGENT_DAYS: '10' } })

/** Runs the task as if it were that many days from now. */
const expireAfter = (days: number) =>
  handlers.expire_agents({ ...app.ctx, now: () => new Date(Date.now() + days * 24 * 60 * 60 * 1000) }, {})

const isKnown = async ({ id }: { id: string }) =>
  (await app.db.selectFrom('agents').select('id').where('id', '=', id).execute()).length === 1

describe('agents that are gone', () => {
  it('are deleted after their time, whether they disconnected or were lost', async () => {
    const { token } = await anAgentWorld(app)
    const [left, lost, here] = [
      await anAgent(app, token),
      await anAgent(app, token),
      await anAgent(app, token),
    ]
    await left.call('POST', 'disconnect')
    await app.db
      .updateTable('agents')
      .set({ connection_state: 'lost', lost_at: new Date().toISOString() })
      .where('id', '=', lost.id)
      .execute()
    await expireAfter(9)
    expect(await Promise.all([left, lost, here].map(isKnown))).toEqual([true, true, true])
    await expireAfter(11)
    expect(await Promise.all([left, lost, here].map(isKnown))).toEqual([false, false, true])
  })

  it('stay as long as a job that they ran', async () => {
    const { org, token, admin } = await anAgentWorld(app)
    const build = await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, token)
    const run = await agent.begin()
    await run.finish(0)
    await agent.call('POST', 'disconnect')
    await expireAfter(400)
    const job = await app.db.selectFrom('jobs').select('agent_id').where('id', '=', run.id).executeTakeFirst()
    expect(job?.agent_id).toBe(agent.id)
    const shown = await app.request('GET', `/v2/organizations/${org.slug}/agents/${agent.id}`, {
      token: admin.token,
    })
    expect(shown).toMatchObject({ status: 200, body: { id: agent.id } })
    await app.db.deleteFrom('builds').where('id', '=', build.id).execute()
    await expireAfter(400)
    expect(await isKnown(agent)).toBe(false)
  })
})
