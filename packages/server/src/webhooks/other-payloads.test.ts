// Bitbucket Data Center, Azure DevOps and Gogs, and senders that nobody knows, through the endpoint of a pipeline.
// source-hosts/payloads.test.ts has all of their events.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anOrganization, type TestOrganization } from '../../test/builders.ts'
import {
  aGogsPush,
  aPullRequest,
  aPush,
  azureEvent,
  azureRepository,
  domains,
  gogsEvent,
  pathAt,
  serverEvent,
  serverRepository,
  type TestDelivery,
} from '../../test/deliveries.ts'
import { outcomesOf } from '../../test/payloads.ts'

const app = useApp()
let org: TestOrganization
beforeAll(async () => {
  org = await anOrganization(app)
})

const tag = { ref: 'refs/tags/v1' }
const deleted = { ref: 'refs/heads/old', deleted: true }
const fork = { fork: true }
const elsewhere = { repository: 'mallory/app' }

const feature = '200 pull request 7 of feature at feature'
const forked = '200 pull request 7 of mallory:feature at feature'
const closed = '200 Pull request #7 was closed.'
const noForks = '200 Pull request #7: it comes from a fork, and build_pull_request_forks is off.'
const noTags = '200 The tag v1 is not built: build_tags is off.'
const kept = '200 The branch old was deleted, and cancel_deleted_branch_builds is off.'
const otherThan = (path: string) =>
  `200 The delivery is about another repository than the pipeline's ${path}.`
const noHost =
  '400 The delivery is of no source host that Millrace reads: GitHub, GitLab, Bitbucket, Bitbucket Data Center, Azure DevOps, Gitea, Forgejo or Gogs.'
const forks = { build_pull_request_forks: true }

type Row = [what: string, delivery: TestDelivery, outcome: string, settings?: object]

const server = 'bitbucket_server'
const azure = 'azure_devops'

describe.each<[host: string, repository: string, rows: Row[]]>([
  [
    'Bitbucket Data Center',
    `https://${domains[server]}/${pathAt(server)}`,
    [
      ['repo:refs_changed', aPush(server), '200 branch main at head'],
      ['repo:refs_changed of a tag', aPush(server, tag), noTags],
      ['repo:refs_changed of a tag', aPush(server, tag), '200 tag v1 at head', { build_tags: true }],
      ['repo:refs_changed that deletes', aPush(server, deleted), kept],
      ['repo:refs_changed of another repository', aPush(server, elsewhere), otherThan('scm/acme/app')],
      ['pr:opened', aPullRequest(server), feature],
      ['pr:opened from a fork', aPullRequest(server, fork), noForks],
      ['pr:opened from a fork', aPullRequest(server, fork), forked.replace('mallory', 'MALLORY'), forks],
      ['pr:declined', aPullRequest(server, { action: 'closed', state: 'closed' }), closed],
      [
        'repo:forked',
        serverEvent('repo:forked', { repository: serverRepository('acme/app', 1) }),
        '200 The event repo:forked makes no builds.',
      ],
    ],
  ],
  [
    'Azure DevOps',
    `https://${domains[azure]}/${pathAt(azure)}`,
    [
      ['git.push', aPush(azure), '200 branch main at head'],
      ['git.push of a tag', aPush(azure, tag), noTags],
      ['git.push of a tag', aPush(azure, tag), '200 tag v1 at head', { build_tags: true }],
      ['git.push that deletes', aPush(azure, deleted), kept],
      ['git.push of another repository', aPush(azure, elsewhere), otherThan('acme/work/_git/app')],
      ['git.pullrequest.created', aPullRequest(azure), feature],
      ['git.pullrequest.created from a fork', aPullRequest(azure, fork), noForks],
      ['git.pullrequest.created from a fork', aPullRequest(azure, fork), forked, forks],
      ['git.pullrequest.updated', aPullRequest(azure, { action: 'closed', state: 'closed' }), closed],
      [
        'git.repo.created',
        azureEvent('git.repo.created', { repository: azureRepository('acme/app', '1') }),
        '200 The event git.repo.created makes no builds.',
      ],
    ],
  ],
  [
    'Gogs',
    'https://gogs.example.com/acme/app.git',
    [
      ['push', aGogsPush(), '200 branch main at head'],
      ['push of a tag', aGogsPush(tag), noTags],
      ['push that deletes', aGogsPush(deleted), kept],
      ['push of another repository', aGogsPush(elsewhere), otherThan('acme/app')],
      [
        'issues',
        gogsEvent('issues', { action: 'opened', number: 1 }),
        '200 The event issues makes no builds.',
      ],
      [
        'pull_request',
        gogsEvent('pull_request', { action: 'opened', number: 1, pull_request: { head_branch: 'feature' } }),
        '400 Gogs does not say which commit a pull request has, so none is built. Let the webhook send pushes only.',
      ],
    ],
  ],
  [
    'a host that nobody knows',
    'https://git.example.com/acme/app.git',
    [['something', { headers: { 'X-Other-Event': 'push' }, body: { ref: 'refs/heads/main' } }, noHost]],
  ],
])('%s', (_, repository, rows) => {
  it.each(rows)('sends %s (%#)', async (_what, delivery, outcome, settings = {}) => {
    const { status, outcomes } = await outcomesOf(app, org, delivery, { repository, settings })
    expect([status, ...outcomes].join(' ')).toBe(outcome)
  })
})
