import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { anOrganization, aPipeline, type TestOrganization } from '../../../test/builders.ts'
import { aConnectedService } from '../../../test/connected-service.ts'
import { aBuild, runJob } from '../../../test/runs.ts'
import { isWanted } from './wanted.ts'

const app = useApp()

/** The names of the events of a build that has passed, as the relay reads them. */
async function wantedEvents(org: TestOrganization, configuration: string): Promise<string[]> {
  const build = await aBuild(app, org, await aPipeline(app, org, configuration))
  await runJob(app, build, 'turn')
  const { rows } = await sql<{ names: string[] }>`
    select case when e.kind like '%.state_changed' then e.data -> 'event_names' else to_jsonb(array[e.kind]) end as names
    from events e where e.build_id = ${build.id} and ${isWanted} order by e.id`.execute(app.db)
  return rows.flatMap(({ names }) => names)
}

const ofBuild = ['build.scheduled', 'build.running', 'build.finished']

describe('the events that the relay reads', () => {
  it('are none where nobody wants any', async () => {
    expect(await wantedEvents(await anOrganization(app), 'steps: [{command: turn}]')).toEqual([])
  })

  it('are those of builds with `notify`, without their jobs', async () => {
    const configuration = '{notify: [{email: dev@example.com}], steps: [{command: turn}]}'
    const names = await wantedEvents(await anOrganization(app), configuration)
    expect(names).toEqual(expect.arrayContaining(ofBuild))
    expect(names.filter((name) => name.startsWith('job.'))).toEqual([])
  })

  it('are those of steps with `notify`', async () => {
    const configuration = 'steps: [{command: turn, notify: [{slack: "#builds"}]}, {command: other}]'
    expect(await wantedEvents(await anOrganization(app), configuration)).toEqual(['step.finished'])
  })

  it('are all with a name while a service of the organization is enabled', async () => {
    const org = await anOrganization(app)
    const id = await aConnectedService(app, org, 'chat_workspace', { channel: '#builds' })
    const names = await wantedEvents(org, 'steps: [{command: turn}]')
    expect(names).toEqual(
      expect.arrayContaining([...ofBuild, 'job.scheduled', 'job.started', 'job.finished']),
    )
    const other = await anOrganization(app)
    expect(await wantedEvents(other, 'steps: [{command: turn}]')).toEqual([])
    await sql`update notification_services set disabled_at = now() where id = ${id}`.execute(app.db)
    expect(await wantedEvents(org, 'steps: [{command: turn}]')).toEqual([])
  })
})
