// Payloads of hosts that no test meets as programs, written by us from the fields that their documentation has: what each event is
// read as, and what is refused.
import { describe, expect, it } from 'vitest'
import {
  aGogsPush,
  aPullRequest,
  aPush,
  azureEvent,
  azureRepository,
  commitOf,
  gogsEvent,
  serverEvent,
  serverRepository,
  type TestDelivery,
} from '../../test/deliveries.ts'
import { readHere } from '../webhooks/read.ts'
import { identify } from './hosts.ts'

function read({ headers, body }: TestDelivery) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const { host, events, repositories } = readHere({ sender: identify(lower, bytes), headers: lower, bytes })
  const shown = events.map((event) => (event.kind === 'pull_request' ? event.reason : event.kind))
  return { host, shown, repositories, events }
}

const bodyOf = ({ body }: TestDelivery) => body as Record<string, object>
const pullRequest = bodyOf(aPullRequest('bitbucket_server'))['pullRequest'] ?? {}
const repository = serverRepository('acme/app', 1)
const comment = { id: 62, version: 0, text: 'I am a comment', author: { name: 'ada' } }

describe('Bitbucket Data Center', () => {
  it.each<[event: string, fields: object, shown: string[]]>([
    ['diagnostics:ping', {}, ['ignored']],
    ['project:modified', { old: {}, new: {} }, ['ignored']],
    ['repo:modified', { old: repository, new: repository }, ['ignored']],
    ['repo:forked', { repository: serverRepository('mallory/app', 2) }, ['ignored']],
    ['repo:comment:added', { repository, comment, commit: commitOf('head') }, ['ignored']],
    ['repo:comment:edited', { repository, comment, commit: commitOf('head') }, ['ignored']],
    ['repo:comment:deleted', { repository, comment, commit: commitOf('head') }, ['ignored']],
    ['repo:secret_detected', { repository }, ['ignored']],
    ['mirror:repo_synchronized', { repository, mirrorServer: { id: 'm' }, changes: [] }, ['ignored']],
    ['pr:opened', { pullRequest }, ['opened']],
    ['pr:from_ref_updated', { pullRequest, previousFromHash: commitOf('before') }, ['pushed']],
    ['pr:to_ref_updated', { pullRequest, previousToHash: commitOf('before') }, ['other']],
    ['pr:modified', { pullRequest, previousTitle: 'Old', previousDescription: '' }, ['edited']],
    ['pr:modified', { pullRequest, previousTarget: { id: 'refs/heads/main' } }, ['edited']],
    ['pr:modified', { pullRequest, previousTarget: { id: 'refs/heads/old' } }, ['base_branch_changed']],
    ['pr:reviewer:updated', { pullRequest, addedReviewers: [], removedReviewers: [] }, ['review_requested']],
    [
      'pr:reviewer:approved',
      { pullRequest, participant: {}, previousStatus: 'UNAPPROVED' },
      ['review_submitted'],
    ],
    ['pr:reviewer:unapproved', { pullRequest, participant: {}, previousStatus: 'APPROVED' }, ['other']],
    ['pr:reviewer:needs_work', { pullRequest, participant: {} }, ['review_submitted']],
    ['pr:reviewer:changes_requested', { pullRequest, participant: {} }, ['review_submitted']],
    ['pr:merged', { pullRequest }, ['closed']],
    ['pr:declined', { pullRequest }, ['closed']],
    ['pr:deleted', { pullRequest }, ['closed']],
    ['pr:comment:added', { pullRequest, comment }, ['comment']],
    ['pr:comment:edited', { pullRequest, comment, previousComment: 'I am' }, ['other']],
    ['pr:comment:deleted', { pullRequest, comment }, ['other']],
  ])('sends %s', (event, fields, shown) => {
    expect(read(serverEvent(event, fields))).toMatchObject({ host: 'bitbucket_server', shown })
  })

  it('sends several refs in one push, and those of an old server without addresses', () => {
    const change = (id: string, fromHash: string, toHash: string, type: string) => ({
      ref: { id, displayId: id.split('/').at(-1), type: 'BRANCH' },
      refId: id,
      fromHash,
      toHash,
      type,
    })
    const none = '0'.repeat(40)
    const changes = [
      change('refs/heads/new', none, commitOf('a'), 'ADD'),
      change('refs/heads/gone', commitOf('b'), none, 'DELETE'),
      change('refs/notes/x', none, commitOf('a'), 'ADD'),
    ]
    const { links: _links, ...old } = repository
    const pushed = read(serverEvent('repo:refs_changed', { repository: old, changes }))
    expect([pushed.shown, pushed.repositories]).toEqual([['pushed', 'deleted', 'ignored'], []])
    const self = { self: repository.links.self }
    const named = read(serverEvent('repo:refs_changed', { repository: { ...old, links: self }, changes }))
    expect(named.repositories).toEqual([
      'https://bitbucket.example.com/scm/ACME/app.git',
      'ssh://git@bitbucket.example.com/ACME/app.git',
    ])
  })

  it('is not taken for bitbucket.org, nor the other way round', () => {
    expect(read(aPush('bitbucket')).host).toBe('bitbucket')
    expect(read(aPush('bitbucket_server')).host).toBe('bitbucket_server')
  })

  it.each(['-rf', 'a..b', 'a b', 'a^{}', '../../up', 'x'.repeat(5000)])(
    'is refused with the branch %j',
    (name) => {
      expect(() => read(aPush('bitbucket_server', { ref: `refs/heads/${name}` }))).toThrow(
        expect.objectContaining({ status: 400 }),
      )
    },
  )
})

describe('Azure DevOps', () => {
  const pull = bodyOf(aPullRequest('azure_devops'))['resource'] ?? {}
  it.each<[event: string, resource: object, shown: string[]]>([
    ['git.repo.created', { repository: azureRepository('acme/app', '1') }, ['ignored']],
    ['build.complete', { id: 2, result: 'succeeded' }, ['ignored']],
    ['workitem.created', { id: 5, fields: {} }, ['ignored']],
    ['git.pullrequest.created', pull, ['opened']],
    ['git.pullrequest.updated', pull, ['pushed']],
    ['git.pullrequest.updated', { ...pull, status: 'abandoned' }, ['closed']],
    ['git.pullrequest.merged', pull, ['other']],
    ['git.pullrequest.merged', { ...pull, status: 'completed' }, ['closed']],
    [
      'ms.vss-code.git-pullrequest-comment-event',
      { comment: { content: '/bk' }, pullRequest: pull },
      ['comment'],
    ],
  ])('sends %s', (event, resource, shown) => {
    expect(read(azureEvent(event, resource))).toMatchObject({ host: 'azure_devops', shown })
  })

  it('has several addresses of a repository', () => {
    expect(read(aPush('azure_devops')).repositories).toEqual([
      'https://acme@dev.azure.com/acme/work/_git/app',
      'git@ssh.dev.azure.com:v3/acme/work/app',
    ])
  })

  it.each(['-rf', 'a..b', 'a b', 'a^{}', '../../up', 'x'.repeat(5000)])(
    'is refused with the branch %j',
    (name) => {
      expect(() => read(aPush('azure_devops', { ref: `refs/heads/${name}` }))).toThrow(
        expect.objectContaining({ status: 400 }),
      )
    },
  )
})

describe('Gogs', () => {
  it.each<[TestDelivery, string[]]>([
    [aGogsPush(), ['pushed']],
    [aGogsPush({ ref: 'refs/heads/old', deleted: true }), ['deleted']],
    [gogsEvent('delete', { ref: 'old', ref_type: 'branch', pusher_type: 'user' }), ['deleted']],
    [gogsEvent('issues', { action: 'opened', number: 1 }), ['ignored']],
  ])('sends %#', (delivery, shown) => {
    expect(read(delivery)).toMatchObject({ host: 'gogs', shown })
  })

  it('is refused with a pull request, whose commit it does not name', () => {
    const fields = {
      action: 'opened',
      number: 1,
      pull_request: { head_branch: 'feature', base_branch: 'main' },
    }
    expect(() => read(gogsEvent('pull_request', fields))).toThrow(/which commit a pull request has/)
  })
})

describe('a host that nobody knows', () => {
  it.each([{}, { event: 'push', ref: 'refs/heads/main' }, []])('is refused with %j', (body) => {
    expect(() => read({ headers: { 'X-Other-Event': 'push' }, body })).toThrow(
      expect.objectContaining({
        status: 400,
        message: expect.stringMatching(/no source host that Millrace reads/),
      }),
    )
  })
})
