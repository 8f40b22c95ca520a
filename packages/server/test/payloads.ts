// What a payload makes at a pipeline that has seen nothing else: through the real endpoint, as lines that a table can hold.
import { sql } from 'kysely'
import type { TestApp } from './app.ts'
import { aPipeline, type TestOrganization } from './builders.ts'
import { commitOf, deliver, type TestDelivery } from './deliveries.ts'

interface Receiving {
  repository: string
  settings?: object
  /** Commits by the names that the lines have for them. */
  names?: Readonly<Record<string, string | undefined>>
}

const usualNames = { head: commitOf('head'), feature: commitOf('feature') }

interface BuildRow {
  number: number
  branch: string
  commit: string
  tag: string | null
  pull: string | null
}

interface Told {
  result: string
  reason: string | null
  builds: Array<{ number: number }>
}

/** Of each event of the delivery, the build that was made, such as `branch main at head`, or why there is none. */
export async function outcomesOf(
  app: TestApp,
  org: TestOrganization,
  delivery: TestDelivery,
  { repository, settings = {}, names = usualNames }: Receiving,
): Promise<{ status: number; outcomes: string[] }> {
  const provider_settings = JSON.stringify(settings)
  const pipeline = await aPipeline(app, org, 'steps: [{ command: make }]', { repository, provider_settings })
  const { status, body } = await deliver(app, pipeline, delivery)
  if (status !== 200) return { status, outcomes: [String(body.message)] }
  const { rows } = await sql<BuildRow>`
    select number, branch, commit, tag, pull_request ->> 'id' as pull from builds
    where pipeline_id = ${pipeline.id} order by number`.execute(app.db)
  const told = body.outcomes as unknown as Told[]
  const outcomes = told.map(({ result, reason, builds }) => {
    const build = rows.find(({ number }) => number === builds[0]?.number)
    return result === 'built' && build !== undefined ? lineOf(build, names) : (reason ?? result)
  })
  const numbers = new Set(told.flatMap(({ builds }) => builds.map(({ number }) => number)))
  if (rows.some(({ number }) => !numbers.has(number))) throw new Error('A build was not told of.')
  return { status, outcomes }
}

function lineOf({ branch, commit, tag, pull }: BuildRow, names: NonNullable<Receiving['names']>): string {
  const [name = commit] = Object.entries(names).find(([, full]) => full?.startsWith(commit)) ?? []
  const ref = tag !== null ? `tag ${tag}` : `branch ${branch}`
  return `${pull === null ? ref : `pull request ${pull} of ${branch}`} at ${name}`
}
