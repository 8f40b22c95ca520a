// Every example in @octokit/webhooks-examples, of github.com and of GitHub Enterprise Server, through the endpoint of a pipeline.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anOrganization, type TestOrganization } from '../../test/builders.ts'
import { githubEvent } from '../../test/deliveries.ts'
import { outcomesOf } from '../../test/payloads.ts'
import { groupBy } from '../lib/group-by.ts'
import { hostSettings } from '../source-hosts/settings.ts'

interface Payload {
  action?: string
  after?: string
  repository?: { clone_url?: string; default_branch?: string }
  pull_request?: { head: { sha: string } }
  check_run?: { head_sha: string }
  deployment?: { sha: string }
  merge_group?: { head_sha: string }
}

interface Example {
  name: string
  /** `event`, or `event.action` */
  key: string
  payload: Payload
}

const sources = ['api.github.com', ...[31, 32, 33, 34, 35].map((version) => `ghes-${version}`)]
const find = createRequire(import.meta.url).resolve

function readExamples(source: string): Example[] {
  const text = readFileSync(find(`@octokit/webhooks-examples/${source}/index.json`), 'utf8')
  return (JSON.parse(text) as Array<{ name: string; examples: Payload[] }>).flatMap(({ name, examples }) =>
    examples.map((payload) => ({ name, key: [name, payload.action ?? []].flat().join('.'), payload })),
  )
}

/** Several sources have the same ones. */
const examples = [
  ...new Map(
    sources
      .flatMap(readExamples)
      .map((example) => [`${example.key} ${JSON.stringify(example.payload)}`, example]),
  ).values(),
]

const pull = 'pull request 2 of changes at pull_request.head'
const other = 'Pull request #2: what changed makes no builds.'
const onIssue = 'The comment is on an issue, not on a pull request.'
const otherApp = 'The check is of another App than that of the connection.'
const tagDeleted = 'The tag simple-tag was deleted; nothing is built.'
const isOff = (setting: string) => `Pull request #2: build_pull_request_${setting} is off.`
const notOf = (event: string, action: string) => `${event} ${action} makes no builds.`
const group = 'gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64'

type Outcomes = string | string[]

/** With the usual settings, and where that is another outcome, with every setting that asks for builds. */
const table: Record<string, [usual: Outcomes, withAll?: Outcomes]> = {
  'check_run.completed': ['build_check_run_completed is off.', 'branch changes at check_run.head'],
  'check_run.created': [notOf('check_run', 'created')],
  'check_run.requested_action': [notOf('check_run', 'requested_action')],
  'check_run.rerequested': [otherApp],
  'check_suite.completed': [notOf('check_suite', 'completed')],
  'check_suite.requested': [notOf('check_suite', 'requested')],
  'check_suite.rerequested': [otherApp],
  create: ['build_create_event is off.', 'tag simple-tag at HEAD'],
  delete: [tagDeleted],
  deployment: ['trigger_mode is code, not deployment.', 'branch master at deployment'],
  'deployment.created': [
    'trigger_mode is code, not deployment.',
    ['branch gh-pages at deployment', 'branch master at deployment'],
  ],
  deployment_status: ['build_deployment_status_created is off.', 'branch master at deployment'],
  'deployment_status.created': ['build_deployment_status_created is off.', 'branch master at deployment'],
  fork: ['trigger_mode is code, not fork.', 'branch main at HEAD'],
  'issue_comment.created': [onIssue],
  'issue_comment.deleted': [onIssue],
  'issue_comment.edited': [onIssue],
  'merge_group.checks_requested': [
    'build_merge_group_checks_requested is off.',
    `branch ${group} at merge_group.head`,
  ],
  ping: ['A ping: the webhook works.'],
  'pull_request.assigned': [other],
  'pull_request.closed': ['Pull request #2 was closed.'],
  'pull_request.converted_to_draft': [isOff('converted_to_draft'), pull],
  'pull_request.labeled': [isOff('labels_changed'), pull],
  'pull_request.locked': [other],
  'pull_request.opened': [pull],
  'pull_request.ready_for_review': [isOff('ready_for_review'), pull],
  'pull_request.reopened': [isOff('reopened'), pull],
  'pull_request.review_request_removed': [other],
  'pull_request.review_requested': [isOff('review_requested'), pull],
  'pull_request.synchronize': ['Pull request #2: the push to changes is built.'],
  'pull_request.unassigned': [other],
  'pull_request.unlabeled': [isOff('labels_changed'), pull],
  'pull_request.unlocked': [other],
  'pull_request_review.dismissed': [isOff('review_dismissed'), pull],
  'pull_request_review.submitted': [isOff('review_submitted'), pull],
  'pull_request_review_comment.created': [
    isOff('review_comment_created'),
    'Pull request #2: the comment does not ask for a build with "/bk".',
  ],
  'pull_request_review_comment.deleted': [other],
  'pull_request_review_comment.edited': [other],
  push: [
    ['branch master at after', tagDeleted, 'The tag simple-tag is not built: build_tags is off.'],
    ['branch master at after', 'tag simple-tag at after', tagDeleted],
  ],
  'release.created': ['build_release_created is off.', 'tag 0.0.1 at HEAD'],
  'release.deleted': [notOf('release', 'deleted')],
  'release.edited': [notOf('release', 'edited')],
  'release.prereleased': [notOf('release', 'prereleased')],
  'release.published': ['build_release_published is off.', 'tag 0.0.1 at HEAD'],
  'release.released': ['build_release_released is off.', 'tag 0.0.1 at HEAD'],
}

const asking = Object.entries(hostSettings({})).filter(
  ([name, value]) => value === false && /^build_(?!pull_request_merge)/.test(name),
)
const everything = Object.fromEntries(asking.map(([name]) => [name, true]))

const app = useApp()
let org: TestOrganization
beforeAll(async () => {
  org = await anOrganization(app)
})

async function outcomesOfAll(all: readonly Example[], settings: object): Promise<string[]> {
  const found = new Set<string>()
  for (const { name, payload } of all) {
    const { repository } = payload
    const { status, outcomes } = await outcomesOf(
      app,
      org,
      { ...githubEvent(name, {}), body: payload },
      {
        repository: repository?.clone_url ?? 'https://github.com/acme/app.git',
        settings,
        names: {
          HEAD: 'HEAD',
          after: payload.after,
          'pull_request.head': payload.pull_request?.head.sha,
          'check_run.head': payload.check_run?.head_sha,
          'merge_group.head': payload.merge_group?.head_sha,
          deployment: payload.deployment?.sha,
        },
      },
    )
    found.add([status, ...outcomes].join(' '))
  }
  return [...found].toSorted()
}

const lines = (outcomes: Outcomes) =>
  [outcomes]
    .flat()
    .map((outcome) => `200 ${outcome}`)
    .toSorted()

describe('the examples of octokit', () => {
  it('are as many as they were, and the table has none that is not among them', () => {
    const keys = new Set(examples.map(({ key }) => key))
    expect(Object.keys(table).filter((key) => !keys.has(key))).toEqual([])
    expect([keys.size, examples.length]).toEqual([172, 404])
  })

  it.each(Object.entries(table))('%s', async (key, [usual, withAll = usual]) => {
    const all = examples.filter((example) => example.key === key)
    const name = all[0]?.name
    const mode = name === 'deployment' || name === 'fork' ? name : 'code'
    expect(await outcomesOfAll(all, {})).toEqual(lines(usual))
    expect(await outcomesOfAll(all, { ...everything, trigger_mode: mode })).toEqual(lines(withAll))
  })

  const others = groupBy(
    examples.filter(({ key }) => !Object.hasOwn(table, key)),
    ({ name }) => name,
  )
  it.each([...others])('%s makes no builds, with all settings', async (name, all) => {
    expect(await outcomesOfAll(all, everything)).toEqual([`200 The event ${name} makes no builds.`])
  })
})
