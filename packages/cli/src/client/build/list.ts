import type { Build, Member, User } from '@millrace/server/wire.ts'
import { git } from '../../run/checkout.ts'
import { Refused } from '../../refused.ts'
import { listAll, openApi, type Api } from '../api.ts'
import { findTarget } from '../find-target.ts'
import { showRows } from '../show.ts'
import { stateText } from '../style.ts'
import { oneLine } from '../text.ts'
import { describeAge, durationBetween } from '../times.ts'
import type { BuildOptions } from '../find-build.ts'
import { isUuid } from '../references.ts'

export interface ListBuildsOptions extends BuildOptions {
  allPipelines?: true
  state: readonly string[]
  branch: readonly string[]
  commit: readonly string[]
  creator?: string
  limit: number
}

export async function listBuilds(options: ListBuildsOptions): Promise<void> {
  const api = await openApi(options)
  const pipeline = options.allPipelines
    ? null
    : (await findTarget(api, { pipeline: options.pipeline })).pipeline
  const query = new URLSearchParams({
    per_page: String(Math.min(options.limit, 100)),
    exclude_jobs: 'true',
    exclude_pipeline: String(!options.allPipelines),
  })
  for (const state of options.state) query.append('state[]', state)
  for (const branch of options.branch) query.append('branch[]', branch)
  for (const commit of options.commit) query.append('commit[]', await wholeCommit(commit))
  if (options.creator !== undefined) query.set('creator', await findUserId(api, options.creator))
  const path = `${pipeline === null ? '' : `pipelines/${encodeURIComponent(pipeline)}/`}builds?${query.toString()}`
  const rows = await listAll(api.pages<Build>(path), options.limit)
  await showRows(
    options,
    rows,
    `No such builds in ${pipeline === null ? api.org : oneLine(pipeline)}.`,
    (style) => [
      { title: 'Build', text: ({ number }) => `#${number}`, align: 'right' },
      ...(pipeline === null
        ? [{ title: 'Pipeline', text: (build: Build) => build.pipeline?.slug ?? null, least: 8 }]
        : []),
      { title: 'State', styled: ({ state, blocked }) => stateText(style, blocked ? 'blocked' : state) },
      { title: 'Branch', text: ({ branch }) => branch, least: 8 },
      { title: 'Commit', text: ({ commit }) => commit.slice(0, 8) },
      { title: 'Message', text: ({ message }) => (message ?? '').split('\n')[0] ?? '', least: 12 },
      { title: 'By', text: ({ creator, author }) => creator?.name ?? author?.name ?? null, least: 6 },
      { title: 'Created', text: ({ created_at }) => describeAge(created_at) },
      {
        title: 'Took',
        text: ({ started_at, finished_at }) =>
          started_at === null ? null : durationBetween(started_at, finished_at),
        align: 'right',
      },
    ],
  )
}

/** The server compares whole hashes. */
async function wholeCommit(commit: string): Promise<string> {
  if (!/^[0-9a-f]{4,39}$/i.test(commit)) return commit
  const whole = await git(process.cwd(), 'rev-parse', '--verify', '--quiet', `${commit}^{commit}`)
  if (whole !== null && whole !== '') return whole
  throw new Refused(`No commit here begins with ${commit}: write the whole hash.`)
}

/** `me`, an id, or an email address. */
async function findUserId(api: Api, text: string): Promise<string> {
  if (isUuid(text)) return text
  if (text === 'me') return (await api.get<User>('/v2/user')).id
  for await (const { id, email } of api.pages<Member>('members')) {
    if (email.toLowerCase() === text.toLowerCase()) return id
  }
  throw new Refused(
    `${api.org} has no member with the address ${oneLine(text)}. Write me, an address or an id.`,
  )
}
