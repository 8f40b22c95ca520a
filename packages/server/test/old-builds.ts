// Finished builds of the past, with logs and artifacts in the blob store.
import { randomUUID } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { BuildRequest } from '../src/conductor/build.ts'
import { newId } from '../src/lib/ids.ts'
import type { TestApp } from './app.ts'
import type { TestOrganization } from './builders.ts'
import { aBuild, jobsOf, runJob, type TestBuild } from './runs.ts'

interface OldBuild extends TestBuild {
  jobIds: string[]
}

export interface Past {
  daysAgo: number
  /** One for each job, from the first; null: none. */
  logs?: ReadonlyArray<string | null>
  /** Of the first job. */
  artifacts?: readonly string[]
  request?: Partial<BuildRequest>
  /** Of all jobs. */
  exitStatus?: number
}

/** Runs all jobs, then moves everything into the past. */
export async function anOldBuild(
  app: TestApp,
  org: TestOrganization,
  pipeline: { id: string },
  { daysAgo, logs = [], artifacts = [], request = {}, exitStatus = 0 }: Past,
): Promise<OldBuild> {
  const build = await aBuild(app, org, pipeline, request)
  for (const { name, state } of await jobsOf(app, build)) {
    if (state === 'scheduled') await runJob(app, build, name, exitStatus)
  }
  const jobIds = (await jobsOf(app, build)).map(({ id }) => id)
  for (const [index, text] of logs.entries()) {
    if (text !== null) await storeLog(app, org, jobIds[index] ?? '', text)
  }
  for (const text of artifacts) await storeArtifact(app, org, build, jobIds[0] ?? '', text)
  await moveToThePast(app, build, daysAgo)
  return { ...build, jobIds }
}

export async function moveToThePast(app: TestApp, build: TestBuild, daysAgo: number): Promise<void> {
  const moved = (...columns: string[]) =>
    sql.join(
      columns.map(
        (name) => sql`${sql.ref(name)} = ${sql.ref(name)} - make_interval(hours => ${24 * daysAgo})`,
      ),
    )
  await sql`
    update builds set ${moved('created_at', 'scheduled_at', 'started_at', 'finished_at')} where id = ${build.id}`.execute(
    app.db,
  )
  await sql`
    update jobs set ${moved('created_at', 'scheduled_at', 'started_at', 'finished_at')}
    where build_id = ${build.id}`.execute(app.db)
  await sql`
    update artifacts set ${moved('created_at', 'finished_at')} where build_id = ${build.id}`.execute(app.db)
}

async function put(app: TestApp, key: string, text: string): Promise<string> {
  await app.ctx.blobs.put(key, Readable.from([Buffer.from(text)]), Buffer.byteLength(text))
  return key
}

/** A finished log, and an object with its rows that is as long as the log. */
async function storeLog(app: TestApp, org: TestOrganization, jobId: string, text: string): Promise<void> {
  const size = Buffer.byteLength(text)
  await app.db
    .insertInto('job_logs')
    .values({
      job_id: jobId,
      organization_id: org.id,
      size,
      blob_key: await put(app, `logs/${org.id}/${jobId}/${randomUUID()}`, text),
      rows_blob_key: await put(app, `logs/${org.id}/${jobId}/${randomUUID()}`, text),
      rows_layout: JSON.stringify({ rows: 1, table_at: 0, outline_at: 0, size }),
      finished_at: sql`now()`,
    })
    .execute()
}

async function storeArtifact(
  app: TestApp,
  org: TestOrganization,
  build: TestBuild,
  jobId: string,
  text: string,
): Promise<void> {
  const id = newId()
  await app.db
    .insertInto('artifacts')
    .values({
      id,
      organization_id: org.id,
      build_id: build.id,
      job_id: jobId,
      batch_id: newId(),
      batch_index: 0,
      path: `${id}.txt`,
      file_size: Buffer.byteLength(text),
      sha1sum: '',
      mime_type: 'text/plain',
      state: 'finished',
      finished_at: sql`now()`,
      blob_key: await put(app, `artifacts/${org.id}/${id}`, text),
    })
    .execute()
}

/** The bytes of all objects in the blob store. */
export async function storedBytes(app: TestApp): Promise<number> {
  const root = join(app.ctx.config.dataDir, 'blobs')
  const names = await readdir(root, { recursive: true }).catch(() => [])
  const files = await Promise.all(names.map((name) => stat(join(root, name))))
  return files.filter((file) => file.isFile()).reduce((sum, file) => sum + file.size, 0)
}
