import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  aToken,
  auditTrail,
  inTeam,
} from '../../../../test/builders.ts'

const app = useApp()
const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'

async function aPlace(fields: object = {}) {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, 'steps:\n  - command: make\n', {
    default_branch: 'trunk',
    ...fields,
  })
  const path = `${pipeline.path}/triggers`
  const post = (body: object = {}, token = admin.token) =>
    app.request('POST', path, { token, body: { name: 'Base image', ...body } })
  const ask = (method: string, rest: unknown, body?: object, token = admin.token) =>
    app.request(method, `${path}/${rest}`, { token, body })
  const builds = async () => {
    const answer = await app.request('GET', `${pipeline.path}/builds`, { token: admin.token })
    expect([answer.status, answer.body.message]).toEqual([200, undefined])
    return answer.list
  }
  return { org, admin, pipeline, path, post, ask, builds }
}

const here = (address: unknown) => String(address).replace(baseUrl, '')

const send = (trigger: { address?: unknown }, text: string, headers: Record<string, string> = {}) =>
  app.request('POST', here(trigger.address), { text, headers })

const signed = (secret: unknown, text: string, header = 'X-Millrace-Signature') => ({
  [header]: `sha256=${createHmac('sha256', String(secret)).update(text).digest('hex')}`,
})

describe('POST /v2/organizations/{org.slug}/pipelines/{slug}/triggers', () => {
  it('answers 201 with the trigger, its address, and its secret this once', async () => {
    const { org, admin, pipeline, path, post, ask } = await aPlace()
    const answer = await post({ branch: { pointer: '/ref', default: 'main' }, env: { A: { text: 'x' } } })
    const { id, secret } = answer.body
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id,
        url: `${baseUrl}${path}/${String(id)}`,
        name: 'Base image',
        enabled: true,
        address: expect.stringMatching(new RegExp(`^${baseUrl}/deliver/trigger/[0-9a-f]{50}$`)),
        branch: { pointer: '/ref', default: 'main' },
        commit: null,
        message: null,
        env: { A: { text: 'x' } },
        condition: null,
        signature: 'hmac_sha256',
        signature_header: 'X-Millrace-Signature',
        created_at: expect.any(String),
        created_by: expect.objectContaining({ id: admin.id }),
        pipeline: { id: pipeline.id, slug: pipeline.slug, url: `${baseUrl}${pipeline.path}` },
        secret: expect.stringMatching(/^mrtr_/),
      },
    ])
    const { secret: _once, ...rest } = answer.body
    expect((await ask('GET', id)).body).toEqual(rest)
    const stored = await app.db
      .selectFrom('pipeline_triggers')
      .selectAll()
      .where('id', '=', String(id))
      .executeTakeFirstOrThrow()
    const text = JSON.stringify(stored)
    for (const hidden of [String(secret), here(answer.body.address).slice(-50)])
      expect(text).not.toContain(hidden)
    expect(await auditTrail(app, org, 'PIPELINE_TRIGGER_CREATED')).toMatchObject([
      { data: { name: 'Base image', signature: 'hmac_sha256' } },
    ])
  })

  it('shows the address to tokens with write_pipelines of those who may edit the pipeline', async () => {
    const { org, admin, pipeline, path, post } = await aPlace()
    const made = (await post()).body
    const token = await aToken(app, admin, { scopes: ['read_pipelines'] })
    expect((await app.request('GET', path, { token })).list).toMatchObject([{ id: made.id, address: '' }])
    const [reader, outsider] = [await aMember(app, org), await aMember(app, org)]
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, reader)
    const body = { pipeline_id: pipeline.id, access_level: 'build_and_read' }
    await app.request('POST', `${team.path}/pipelines`, { token: admin.token, body })
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    expect((await app.request('GET', path, { token: reader.token })).list).toMatchObject([
      { id: made.id, address: '' },
    ])
    for (const [method, rest, given] of [
      ['POST', '', { name: 'Mine' }],
      ['PATCH', `/${String(made.id)}`, { enabled: false }],
      ['POST', `/${String(made.id)}/rotate`, undefined],
      ['POST', `/${String(made.id)}/dry_run`, { payload: {} }],
      ['DELETE', `/${String(made.id)}`, undefined],
      ['GET', `/${String(made.id)}/deliveries`, undefined],
    ] as const) {
      const answer = await app.request(method, `${path}${rest}`, { token: reader.token, body: given })
      expect([method, rest, answer.status]).toEqual([method, rest, 403])
    }
    expect((await app.request('GET', path, { token: outsider.token })).status).toBe(404)
  })

  it.each([
    [{ name: ' ' }, 'name'],
    [{ branch: {} }, 'branch'],
    [{ branch: { pointer: '/a', text: 'b' } }, 'branch'],
    [{ branch: { pointer: 'ref' } }, 'branch'],
    [{ commit: { pointer: '/a~2' } }, 'commit'],
    [{ message: { text: 'a', default: 'b' } }, 'message'],
    [{ env: { 'A=B': { text: 'x' } } }, 'env.A=B'],
    [{ env: { A: { pointer: '' } } }, 'env.A'],
    [{ condition: 'payload("ref") == "x"' }, 'condition'],
    [{ condition: 'payload("/ref") == 1' }, 'condition'],
    [{ condition: 'payload("/ref")' }, 'condition'],
    [{ signature: 'none', secret: 'a secret of sixteen' }, 'secret'],
    [{ signature: 'md5' }, 'signature'],
    [{ signature_header: 'a b' }, 'signature_header'],
    [{ secret: 'short' }, 'secret'],
  ])('answers 422 to %o', async (body, field) => {
    const { post } = await aPlace()
    const answer = await post(body)
    expect([answer.status, JSON.stringify(answer.body).includes(field)]).toEqual([422, true])
  })
})

describe('PATCH /v2/organizations/{org.slug}/pipelines/{slug}/triggers/{id}', () => {
  it('changes what is named, and makes whoever changes it the owner', async () => {
    const { org, post, ask } = await aPlace()
    const { secret: _secret, ...made } = (await post()).body
    const other = await anAdmin(app, org)
    const changed = await ask('PATCH', made.id, { branch: { text: 'main' }, enabled: false }, other.token)
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        ...made,
        branch: { text: 'main' },
        enabled: false,
        created_by: expect.objectContaining({ id: other.id }),
      },
    ])
    expect((await ask('PUT', made.id, { branch: null })).body).toMatchObject({ branch: null })
    const open = await ask('PATCH', made.id, { signature: 'none' })
    expect(open.body).toMatchObject({ signature: 'none', signature_header: null })
    const again = await ask('PATCH', made.id, { signature: 'token' })
    expect(again.body).toMatchObject({ signature_header: 'Authorization', secret: expect.any(String) })
  })

  it('is 404 for those of other pipelines and organizations', async () => {
    const { org, post, ask } = await aPlace()
    await post()
    const other = await aPipeline(app, org, 'steps: []')
    const theirs = await aPlace()
    const foreign = (await theirs.post()).body
    for (const id of [foreign.id, unknownId, 'x']) {
      for (const [method, rest, body] of [
        ['GET', '', undefined],
        ['PATCH', '', {}],
        ['DELETE', '', undefined],
        ['POST', '/rotate', undefined],
        ['POST', '/dry_run', { payload: {} }],
        ['GET', '/deliveries', undefined],
      ] as const) {
        const answer = await ask(method, `${String(id)}${rest}`, body)
        expect([method, rest, answer.status, answer.body.message]).toEqual([
          method,
          rest,
          404,
          'No trigger found',
        ])
      }
    }
    expect(other.id).not.toBe('')
  })
})

describe('POST /v2/organizations/{org.slug}/pipelines/{slug}/triggers/{id}/rotate', () => {
  it('replaces address and secret at once', async () => {
    const { post, ask } = await aPlace()
    const before = (await post()).body
    const after = (await ask('POST', `${String(before.id)}/rotate`)).body
    expect([after.address === before.address, after.secret === before.secret]).toEqual([false, false])
    expect((await send(before, '{}', signed(before.secret, '{}'))).status).toBe(404)
    expect((await send(after, '{}', signed(before.secret, '{}'))).status).toBe(401)
    expect((await send(after, '{}', signed(after.secret, '{}'))).status).toBe(200)
  })
})

describe('DELETE /v2/organizations/{org.slug}/pipelines/{slug}/triggers/{id}', () => {
  it('deletes it with its address', async () => {
    const { post, ask } = await aPlace()
    const made = (await post({ signature: 'none' })).body
    expect((await send(made, '{}')).status).toBe(200)
    expect((await ask('DELETE', made.id)).status).toBe(204)
    expect((await send(made, '{}')).status).toBe(404)
  })
})

describe('POST /deliver/trigger/{address}', () => {
  it('makes the build that the mapping reads from the payload', async () => {
    const { admin, post, builds } = await aPlace()
    const { body: made } = await post({
      signature: 'none',
      branch: { pointer: '/ref' },
      commit: { pointer: '/commits/1/id' },
      message: { pointer: '/title', default: 'No title' },
      env: {
        NUMBER: { pointer: '/a~1b/c~0d' },
        FLAG: { pointer: '/flag' },
        FIXED: { text: 'yes' },
        USUAL: { pointer: '/nothing', default: '' },
      },
    })
    const payload = {
      ref: 'refs/heads/release/1',
      commits: [{ id: 'abc' }, { id: 'def0123' }],
      title: null,
      'a/b': { 'c~d': 12.5 },
      flag: false,
    }
    const answer = await send(made, JSON.stringify(payload))
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        message: 'Build #1 was made.',
        build: { id: expect.any(String), number: 1, web_url: expect.stringMatching(/\/builds\/1$/) },
        replayed: false,
      },
    ])
    expect(await builds()).toMatchObject([
      {
        branch: 'release/1',
        commit: 'def0123',
        message: 'No title',
        env: { NUMBER: '12.5', FLAG: 'false', FIXED: 'yes', USUAL: '' },
        source: 'webhook',
        found_by: 'trigger',
        trigger_name: 'Base image',
        creator: { id: admin.id },
        state: 'scheduled',
      },
    ])
  })

  it('builds the newest commit of the default branch, named as the trigger, without a mapping', async () => {
    const { post, builds } = await aPlace()
    await send((await post({ signature: 'none' })).body, '{}')
    expect(await builds()).toMatchObject([
      { branch: 'trunk', commit: 'HEAD', message: 'Base image', env: {} },
    ])
  })

  it('takes the signature of a chosen header, in the form of GitHub or plain, and the token of one', async () => {
    const { post, ask, builds } = await aPlace()
    const text = '{"a": 1}'
    const { body: made } = await post({
      signature_header: 'X-Hub-Signature-256',
      secret: 'chosen by the sender',
    })
    expect(made).not.toHaveProperty('secret')
    const hex = createHmac('sha256', 'chosen by the sender').update(text).digest('hex')
    for (const [value, status] of [
      [`sha256=${hex}`, 200],
      [hex.toUpperCase(), 200],
      [`sha256=${hex.slice(1)}`, 401],
      [`sha1=${hex}`, 401],
      [hex.replace(/.$/, (end) => (end === '0' ? '1' : '0')), 401],
      ['', 401],
    ] as const) {
      const answer = await send(made, text, { 'X-Hub-Signature-256': value })
      expect([value, answer.status]).toEqual([value, status])
    }
    expect((await send(made, text, signed('chosen by the sender', text))).status).toBe(401)
    expect((await send(made, `${text} `, { 'X-Hub-Signature-256': hex })).status).toBe(401)
    const { body: token } = await ask('PATCH', made.id, {
      signature: 'token',
      secret: 'a token of the sender',
    })
    for (const [value, status] of [
      ['Bearer a token of the sender', 200],
      ['a token of the sender', 200],
      ['Bearer a token of the sende', 401],
      ['Bearer ', 401],
    ] as const) {
      expect([value, (await send(token, text, { Authorization: value })).status]).toEqual([value, status])
    }
    expect((await send(token, text)).status).toBe(401)
    expect(await builds()).toHaveLength(4)
  })

  it('builds only where the condition holds', async () => {
    const { post, builds } = await aPlace()
    const { body: made } = await post({
      signature: 'none',
      branch: { pointer: '/branch', default: 'main' },
      condition: 'payload("/action") == "closed" && payload("/merged") == "true" && build.branch !~ /^docs/',
    })
    for (const [payload, isBuilt] of [
      [{ action: 'closed', merged: true }, true],
      [{ action: 'closed', merged: 'true' }, true],
      [{ action: 'closed', merged: true, branch: 'docs-1' }, false],
      [{ action: 'opened', merged: true }, false],
      [{ action: ['closed'], merged: true }, false],
      [{}, false],
    ] as const) {
      const { status, body } = await send(made, JSON.stringify(payload))
      const isRefused = String(body.message).startsWith(
        'No build was made. The condition does not hold: payload',
      )
      expect([payload, status, body.build !== null, isRefused]).toEqual([payload, 200, isBuilt, !isBuilt])
    }
    expect(await builds()).toHaveLength(2)
  })

  it('says what the payload lacks, and builds it when it is sent again with it', async () => {
    const { post, builds } = await aPlace()
    const { body: made } = await post({
      signature: 'none',
      branch: { pointer: '/ref' },
      env: { A: { pointer: '/a' } },
    })
    const headers = { 'X-Acme-Delivery': 'one' }
    for (const [payload, message] of [
      [{ a: 'x' }, 'The payload has nothing at /ref for the branch, and there is no default.'],
      [{ ref: 'main' }, 'The payload has nothing at /a for the variable A, and there is no default.'],
      [{ ref: {}, a: 'x' }, 'The payload has an object at /ref, which cannot be the branch.'],
      [{ ref: ['main'], a: 'x' }, 'The payload has a list at /ref, which cannot be the branch.'],
      [{ ref: ' ', a: 'x' }, 'The branch is blank.'],
    ] as const) {
      const answer = await send(made, JSON.stringify(payload), headers)
      expect([answer.status, answer.body.message]).toEqual([422, message])
    }
    expect((await send(made, '{"ref": "main", "a": "x"}', headers)).body.build).not.toBe(null)
    expect(await builds()).toHaveLength(1)
  })

  it('builds equal deliveries once, also when they come at the same time', async () => {
    const { post, builds } = await aPlace()
    const { body: made } = await post({ signature: 'none' })
    const other = (await post({ signature: 'none' })).body
    for (const name of ['Idempotency-Key', 'X-GitHub-Delivery', 'X-Delivery-Id', 'webhook-id']) {
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => send(made, '{}', { [name]: `id of ${name}` })),
      )
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect(answers.filter(({ body }) => String(body.replayed) === 'false')).toHaveLength(1)
      expect(new Set(answers.map(({ body }) => JSON.stringify(body.build))).size).toBe(1)
    }
    expect(await builds()).toHaveLength(4)
    await send(other, '{}', { 'Idempotency-Key': 'id of Idempotency-Key' })
    await send(made, '{}')
    await send(made, '{}')
    expect(await builds()).toHaveLength(7)
  })

  it('is 409 while the trigger is off, and makes no build of an archived pipeline or another branch', async () => {
    const { admin, pipeline, post, ask } = await aPlace({ branch_configuration: 'main' })
    const { body: made } = await post({ signature: 'none' })
    expect((await send(made, '{}')).body).toMatchObject({
      build: null,
      message: expect.stringContaining('does not match the pipeline'),
    })
    await ask('PATCH', made.id, { enabled: false, branch: { text: 'main' } })
    expect((await send(made, '{}')).status).toBe(409)
    await ask('PATCH', made.id, { enabled: true })
    expect((await send(made, '{}')).body.build).not.toBe(null)
    await app.request('POST', `${pipeline.path}/archive`, { token: admin.token })
    expect((await send(made, '{}')).body).toMatchObject({
      build: null,
      message: expect.stringContaining('archived'),
    })
  })

  it('stops when its owner may no longer build the pipeline, until somebody else changes it', async () => {
    const { org, admin, pipeline, path, ask, builds } = await aPlace()
    const owner = await aMember(app, org)
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, owner)
    const access = `${team.path}/pipelines`
    const body = { pipeline_id: pipeline.id, access_level: 'manage_build_and_read' }
    await app.request('POST', access, { token: admin.token, body })
    await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
    const { body: made } = await app.request('POST', path, {
      token: owner.token,
      body: { name: 'Theirs', signature: 'none' },
    })
    expect((await send(made, '{}')).status).toBe(200)
    await app.request('PATCH', `${access}/${pipeline.id}`, {
      token: admin.token,
      body: { access_level: 'read_only' },
    })
    const answer = await send(made, '{}')
    expect([answer.status, answer.body.message]).toEqual([
      403,
      'The owner of the trigger may no longer build this pipeline. Whoever edits the trigger becomes its owner.',
    ])
    await ask('PATCH', made.id, {})
    expect((await send(made, '{}')).status).toBe(200)
    expect((await builds()).map(({ creator }) => (creator as unknown as { id: string }).id)).toEqual([
      admin.id,
      owner.id,
    ])
  })

  it('does not trust the head of a pull request from a fork', async () => {
    const { pipeline, post, builds } = await aPlace({ env: { DEPLOY: 'yes' } })
    const { body: made } = await post({ signature: 'none', commit: { pointer: '/sha' } })
    const commit = 'f'.repeat(40)
    await app.db
      .insertInto('pull_requests')
      .values({
        pipeline_id: pipeline.id,
        organization_id: await orgOf(pipeline.id),
        number: '7',
        branch: 'change',
        is_fork: true,
        data: JSON.stringify({ commit }),
        updated_at: app.ctx.now().toISOString(),
      })
      .execute()
    await send(made, JSON.stringify({ sha: commit }))
    const [build] = await builds()
    const stored = await app.db
      .selectFrom('builds')
      .select(['from_fork', 'stored_env'])
      .where('id', '=', String(build?.id))
      .executeTakeFirstOrThrow()
    expect(stored).toEqual({ from_fork: true, stored_env: {} })
  })
})

const orgOf = async (id: string) =>
  (
    await app.db
      .selectFrom('pipelines')
      .select('organization_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).organization_id

describe('POST /v2/organizations/{org.slug}/pipelines/{slug}/triggers/{id}/dry_run', () => {
  it('says what build would come out, and makes none', async () => {
    const { post, ask, builds } = await aPlace()
    const { body: made } = await post({
      branch: { pointer: '/ref' },
      env: { A: { text: 'x' } },
      condition: 'payload("/go") == "true"',
    })
    const dry = async (payload: object) => (await ask('POST', `${String(made.id)}/dry_run`, { payload })).body
    const build = { branch: 'main', commit: 'HEAD', message: 'Base image', env: { A: 'x' } }
    expect(await dry({ ref: 'refs/heads/main', go: true })).toEqual({
      would_build: true,
      status: 200,
      message: 'A build would be made.',
      build,
    })
    expect(await dry({ ref: 'main' })).toEqual({
      would_build: false,
      status: 200,
      message: 'No build would be made. The condition does not hold: payload("/go") == "true"',
      build,
    })
    expect(await dry({})).toMatchObject({ would_build: false, status: 422, build: null })
    await ask('PATCH', made.id, { enabled: false })
    expect(await dry({ ref: 'main', go: true })).toMatchObject({ would_build: false, status: 409, build })
    expect(await builds()).toEqual([])
    expect((await ask('GET', `${String(made.id)}/deliveries`)).list).toEqual([])
    await ask('PATCH', made.id, { enabled: true })
    const text = '{"ref": "main", "go": true}'
    expect((await send(made, text, signed(made.secret, text))).body.build).toMatchObject({ number: 1 })
  })
})
