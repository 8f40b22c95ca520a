import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anAgent, anAgentWorld } from '../../test/agent-client.ts'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import { trackAgentActivity } from './agent-activity.ts'

const app = useApp()

/** As in a process of its own, with a clock that the test sets. */
async function aTracker() {
  const { org, token } = await anAgentWorld(app)
  const clock = { ms: Date.parse('2030-01-01T00:00:00Z') }
  const activity = trackAgentActivity({ ...app.ctx, now: () => new Date(clock.ms) }, () => {})
  const agentOf = async () => ({ id: (await anAgent(app, token)).id, organizationId: org.id })
  const row = async ({ id }: { id: string }) => {
    const { rows } = await sql<{ seen: string; stream: string; job: string; xmin: string }>`
      select last_seen_at as seen, stream_opened_at as stream, job_heard_at as job, xmin::text from agents
      where id = ${id}`.execute(app.db)
    const [found] = rows
    if (found === undefined) throw new Error('No agent')
    const ms = (time: string | null) => (time === null ? null : new Date(time).getTime())
    return { seen: ms(found.seen), stream: ms(found.stream), job: ms(found.job), xmin: found.xmin }
  }
  return { activity, clock, row, agents: [await agentOf(), await agentOf()] as const }
}

describe('the times at which agents were heard', () => {
  it('are written with one statement for all of them', async () => {
    const { activity, clock, row, agents } = await aTracker()
    const [one, two] = agents
    activity.recordHeartbeat(one)
    activity.recordStream(two)
    activity.recordJobRequest(two)
    await activity.flush()
    const [first, second] = [await row(one), await row(two)]
    expect(first).toMatchObject({ seen: clock.ms, stream: null, job: null })
    expect(second).toMatchObject({ stream: clock.ms, job: clock.ms })
    expect(first.xmin).toBe(second.xmin)
  })

  it('never move back', async () => {
    const { activity, clock, row, agents } = await aTracker()
    const [agent] = agents
    const later = clock.ms + 1
    const at = new Date(later).toISOString()
    await app.db
      .updateTable('agents')
      .set({ last_seen_at: at, stream_opened_at: at, job_heard_at: at })
      .where('id', '=', agent.id)
      .execute()
    activity.recordHeartbeat(agent)
    activity.recordStream(agent)
    activity.recordJobRequest(agent)
    await activity.flush()
    expect(await row(agent)).toMatchObject({ seen: later, stream: later, job: later })
  })

  it('are known at once for a job, and written every five seconds', async () => {
    const { activity, clock, row, agents } = await aTracker()
    const [agent] = agents
    const start = clock.ms
    const written = async () => ((await row(agent)).job ?? NaN) - start
    activity.recordJobRequest(agent)
    await activity.flush()
    clock.ms = start + 2000
    activity.recordJobRequest(agent)
    expect(activity.lastJobRequest(agent.id)?.getTime()).toBe(start + 2000)
    await activity.flush()
    expect(await written()).toBe(0)
    clock.ms = start + 5000
    await activity.flush()
    expect(await written()).toBe(2000)
    expect(activity.lastJobRequest(agent.id)?.getTime()).toBe(start + 2000)
    clock.ms = start + 7000
    await activity.flush()
    expect(activity.lastJobRequest(agent.id)).toBeNull()
  })

  it('are not written for a job that has ended', async () => {
    const { activity, row, agents } = await aTracker()
    const [agent] = agents
    activity.recordJobRequest(agent)
    activity.deleteJobRequest(agent.id)
    await activity.flush()
    expect((await row(agent)).job).toBeNull()
  })

  it('wait for a row that is locked, without keeping others waiting', async () => {
    const { activity, clock, row, agents } = await aTracker()
    const [locked, free] = agents
    await inTransaction(app.db, async (trx) => {
      await sql`select from agents where id = ${locked.id} for update`.execute(trx)
      activity.recordHeartbeat(locked)
      activity.recordHeartbeat(free)
      await activity.flush()
      expect((await row(free)).seen).toBe(clock.ms)
      expect((await row(locked)).seen).not.toBe(clock.ms)
    })
    await activity.flush()
    expect((await row(locked)).seen).toBe(clock.ms)
  })

  it('are kept while the database refuses them', async () => {
    const { activity, clock, row, agents } = await aTracker()
    const [agent] = agents
    await sql`alter table agents rename to agents_elsewhere`.execute(app.db)
    activity.recordHeartbeat(agent)
    await activity.flush()
    await sql`alter table agents_elsewhere rename to agents`.execute(app.db)
    const heardAt = clock.ms
    clock.ms += 6000
    await activity.flush()
    expect((await row(agent)).seen).toBe(heardAt)
  })

  it('are deleted for an agent that does not exist any more', async () => {
    const { activity, clock, agents } = await aTracker()
    const gone = { ...agents[0], id: newId() }
    activity.recordJobRequest(gone)
    await activity.flush()
    clock.ms += 5000
    await activity.flush()
    expect(activity.lastJobRequest(gone.id)).toBeNull()
  })

  it('stay within their organization', async () => {
    const { activity, clock, row, agents } = await aTracker()
    const [agent] = agents
    activity.recordHeartbeat({ ...agent, organizationId: newId() })
    await activity.flush()
    expect((await row(agent)).seen).not.toBe(clock.ms)
  })
})
