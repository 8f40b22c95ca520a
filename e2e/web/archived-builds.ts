import pg from 'pg'
import { databaseUrl, eventually, millrace, type Client, type Settings } from '../millrace.ts'

/** Moves the builds of the pipeline, which are over, more than a year into the past, and lets retention archive them without logs. */
export async function archiveBuilds(server: Client, settings: Settings, pipeline: string): Promise<void> {
  const run = async (command: string, ...options: string[]) => {
    const ended = await millrace(
      ['retention', command, 'default', '--pipeline', pipeline, ...options],
      settings,
    )
    if (ended.code !== 0) throw new Error(ended.stderr)
  }
  const database = new pg.Client({ connectionString: databaseUrl(server) })
  await database.connect()
  const tables = [
    ['builds', 'pipeline_id = (select id from pipelines where slug = $1)'],
    [
      'jobs',
      'build_id in (select b.id from builds b join pipelines p on p.id = b.pipeline_id where p.slug = $1)',
    ],
  ]
  for (const [table, condition] of tables)
    await database.query(
      `update ${table} set created_at = created_at - interval '400 days', scheduled_at = scheduled_at - interval '400 days',
        started_at = started_at - interval '400 days', finished_at = finished_at - interval '400 days' where ${condition}`,
      [pipeline],
    )
  await database.end()
  // With their logs, they would wait for minutes until these are in the store.
  await run('set', '--build-days', '30', '--log-days', '30', '--keep-newest-builds', '0')
  await eventually('the builds are archived', async () => {
    await run('run')
    const { body } = await server.get(`/v2/organizations/default/pipelines/${pipeline}/builds`)
    return Object.keys(body).length === 0
  })
}
