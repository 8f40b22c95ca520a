import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aDirectory, millrace, startServer, theServer, type Json, type Settings } from './millrace.ts'

describe('millrace --help', () => {
  it('ends with 0', async () => {
    const answer = await millrace(['org', '--help'], {})
    expect(answer).toMatchObject({ code: 0, stderr: '' })
    expect(answer.stdout).toMatch(/^Usage: millrace org /)
  })
})

describe('wrong usage', () => {
  it('ends with 2', async () => {
    const answer = await millrace(['up', '--fast'], {})
    expect(answer).toMatchObject({ code: 2, stdout: '' })
    expect(answer.stderr).toContain("unknown option '--fast'")
  })
})

describe('abuse case 6: an argument that begins with @', () => {
  it('is taken literally, and no file is read', async () => {
    const { settings } = theServer()
    const file = join(aDirectory(), 'canary')
    writeFileSync(file, 'the canary sings')
    const made = await json(['org', 'create', 'at-file', '--name', `@${file}`], settings)
    expect(made).toMatchObject({ name: `@${file}` })
    for (const args of [
      [`@${file}`],
      ['org', 'create', `@${file}`, '--name', 'x'],
      ['token', 'revoke', `@${file}`],
    ]) {
      const refused = await millrace(args, settings)
      expect(refused.code).not.toBe(0)
      expect(refused.stdout + refused.stderr).not.toContain('canary sings')
    }
  })
})

describe('administration without a running server', () => {
  it('starts the database for each command', async () => {
    const settings = { MILLRACE_DATA_DIR: join(aDirectory(), 'data') }
    const first = await json(['migrate'], settings)
    expect(first['applied']).toContain('202611150500_create_foundation')
    expect(await json(['migrate'], settings)).toEqual({ applied: [] })
    await json(['org', 'create', 'acme', '--name', 'Acme Inc.'], settings)
    const again = await millrace(['org', 'create', 'acme', '--name', 'Acme Inc.', '--json'], settings)
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toContain('there is already an organization "acme"')

    // Only an empty database gets a first organization.
    const server = await startServer(settings)
    expect(server.token).toBe('')
  })

  it('is refused if there is no database, because the directory is most likely wrong', async () => {
    const settings = { MILLRACE_DATA_DIR: join(aDirectory(), 'data') }
    for (const args of [
      ['token', 'create', '--user', 'a@example.com', '--scope', 'read_user'],
      ['backup', join(aDirectory(), 'backup')],
    ]) {
      const refused = await millrace(args, settings)
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toMatch(/^There is no database in .*: run this where .*\.\n$/)
    }
    expect(existsSync(settings.MILLRACE_DATA_DIR)).toBe(false)
  })

  it('lets commands run side by side', async () => {
    const settings = { MILLRACE_DATA_DIR: aDirectory() }
    const slugs = ['one', 'two', 'three']
    const made = await Promise.all(
      slugs.map((slug) => millrace(['org', 'create', slug, '--name', slug], settings)),
    )
    expect(made.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      slugs.map(() => ({ code: 0, stderr: '' })),
    )
  })
})

describe('administration beside a running server', () => {
  it('unlocks an organization that has locked itself out (abuse case H5)', async () => {
    const { settings, ...server } = theServer()
    await json(['org', 'create', 'locked', '--name', 'Locked'], settings)
    const person = ['--email', 'lin@example.com', '--name', 'Lin Example', '--role', 'admin']
    await json(['user', 'create', ...person, '--org', 'locked'], settings)
    const scope = ['--scope', 'write_organization_settings', '--scope', 'read_organization_settings']
    const issued = await json(['token', 'create', '--user', 'lin@example.com', ...scope], settings)
    const headers = { Authorization: `Bearer ${String(issued['token'])}`, 'Content-Type': 'application/json' }
    const url = `${server.url}/v2/organizations/locked/api-settings`
    const body = JSON.stringify({ allowed_ip_addresses: '192.0.2.1' })
    expect((await fetch(url, { method: 'PATCH', headers, body })).status).toBe(422)
    const forced = JSON.stringify({ allowed_ip_addresses: '192.0.2.1', force: true })
    expect((await fetch(url, { method: 'PATCH', headers, body: forced })).status).toBe(200)
    expect((await fetch(url, { headers })).status).toBe(403)
    const set = ['org', 'set', 'locked']
    expect(await json([...set, '--allow-ip', '192.0.2.1', '--allow-ip', '127.0.0.1'], settings)).toEqual({
      slug: 'locked',
      allowed_ip_addresses: '192.0.2.1 127.0.0.1',
    })
    expect((await fetch(url, { headers })).status).toBe(200)
    expect(await json([...set, '--clear-ip-ranges'], settings)).toEqual({
      slug: 'locked',
      allowed_ip_addresses: null,
    })
    expect(await millrace(set, settings)).toMatchObject({ code: 2, stdout: '' })
  })

  it('shows, sets, previews and carries out retention', async () => {
    const { settings, ...server } = theServer()
    await json(['org', 'create', 'keepers', '--name', 'Keepers'], settings)
    const person = ['--email', 'kim@example.com', '--name', 'Kim Example', '--role', 'admin']
    await json(['user', 'create', ...person, '--org', 'keepers'], settings)
    const issued = await json(['token', 'create', '--user', 'kim@example.com', '--scope', 'all'], settings)
    const headers = { Authorization: `Bearer ${String(issued['token'])}`, 'Content-Type': 'application/json' }
    const create = async (path: string, body: object) => {
      const url = `${server.url}/v2/organizations/keepers/${path}`
      const made = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(made.status).toBe(201)
      return (await made.json()) as { id: string }
    }
    const { id: cluster_id } = await create('clusters', { name: 'Own' })
    const repository = 'https://git.example.com/web.git'
    await create('pipelines', { name: 'Web', repository, cluster_id, configuration: 'steps: []' })
    const set = ['retention', 'set', 'keepers', '--build-days', '30', '--archive-builds', 'no']
    expect(await json(set, settings)).toMatchObject({ build_days: 30, archive_builds: false })
    const shown = await json(['retention', 'show', 'keepers', '--pipeline', 'web'], settings)
    expect(shown).toMatchObject({ build_days: null, effective: { build_days: 30, artifact_days: 90 } })
    const answer = await fetch(`${server.url}/v2/organizations/keepers/retention`, { headers })
    expect(await answer.json()).toMatchObject({ build_days: 30, archive_builds: false })
    const cleared = ['retention', 'set', 'keepers', '--build-days', 'inherit']
    expect(await json(cleared, settings)).toMatchObject({ build_days: null, effective: { build_days: 365 } })
    const text = await millrace(['retention', 'show', 'keepers'], settings)
    expect(text.stdout).toContain('build_days          365 (inherited)\n')
    expect(await json(['retention', 'preview', 'keepers', '--build-days', '1'], settings)).toMatchObject({
      builds: { count: 0 },
      pipelines: [],
    })
    expect(await json(['retention', 'run', 'keepers'], settings)).toMatchObject({
      builds: { count: 0 },
      busy: [],
    })
    expect(await json(['archive', 'list', 'keepers', 'web'], settings)).toEqual([])
    const missing = await millrace(['archive', 'show', 'keepers', 'web', '1'], settings)
    expect(missing).toMatchObject({ code: 1, stdout: '' })
    expect(missing.stderr).toContain('There is no archived build 1 of web')
    const nowhere = await millrace(['retention', 'show', 'keepers', '--pipeline', 'nowhere'], settings)
    expect(nowhere).toMatchObject({
      code: 1,
      stderr: 'There is no pipeline "nowhere" in keepers: give its slug.\n',
    })
  })

  it('disables the single sign-on of an organization that has locked itself out', async () => {
    const { settings, ...server } = theServer()
    await json(['org', 'create', 'signed-out', '--name', 'Signed Out'], settings)
    const person = ['--email', 'mia@example.com', '--name', 'Mia Example', '--role', 'admin']
    await json(['user', 'create', ...person, '--org', 'signed-out'], settings)
    const issued = await json(['token', 'create', '--user', 'mia@example.com', '--scope', 'all'], settings)
    const headers = { Authorization: `Bearer ${String(issued['token'])}`, 'Content-Type': 'application/json' }
    const url = `${server.url}/v2/organizations/signed-out/sso`
    const disable = ['sso', 'disable', 'signed-out']
    const refused = await millrace(disable, settings)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('has no single sign-on') })
    const client = { issuer: 'https://login.example.com', client_id: 'millrace', client_secret: 'secret' }
    const body = JSON.stringify({ ...client, sso_required: true })
    expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(200)
    expect((await fetch(`${server.url}/-/sso/signed-out`)).status).toBe(200)
    expect(await json(disable, settings)).toEqual({ slug: 'signed-out', enabled: false })
    expect(await (await fetch(url, { headers })).json()).toMatchObject({ enabled: false, sso_required: true })
    expect((await fetch(`${server.url}/-/sso/signed-out`)).status).toBe(404)
  })

  it('creates organizations, people and tokens that work at once', async () => {
    const { settings, ...server } = theServer()
    const org = await json(['org', 'create', 'acme', '--name', 'Acme Inc.'], settings)
    expect(org).toMatchObject({ slug: 'acme', name: 'Acme Inc.' })
    const person = ['user', 'create', '--email', 'ada@example.com', '--name', 'Ada Example']
    const user = await json(
      [...person, '--org', 'acme', '--role', 'admin', '--password', 'pass word'],
      settings,
    )
    expect(user).toMatchObject({ email: 'ada@example.com', role: 'admin', organization: 'acme' })

    // The address is known, so this adds a membership.
    const other = await json([...person, '--org', 'default', '--role', 'member'], settings)
    expect(other['id']).toBe(user['id'])
    const twice = await millrace([...person, '--org', 'default', '--role', 'member'], settings)
    expect(twice.code).toBe(1)
    expect(twice.stderr).toContain('already a member')

    const token = ['token', 'create', '--user', 'ada@example.com']
    const scopes = ['--scope', 'read_clusters', '--scope', 'write_clusters']
    const issued = await json([...token, '--org', 'acme', ...scopes, '--expires-in', '90d'], settings)
    expect(issued).toMatchObject({ scopes: ['read_clusters', 'write_clusters'], organizations: ['acme'] })
    const days = (Date.parse(String(issued['expires_at'])) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(89.9)
    expect(days).toBeLessThanOrEqual(90)

    const value = String(issued['token'])
    expect((await server.post('/v2/organizations/acme/clusters', { name: 'First' }, value)).status).toBe(201)
    expect((await server.get('/v2/organizations/default/clusters', value)).status).toBe(404)

    expect(await json(['token', 'revoke', String(issued['id'])], settings)).toMatchObject({ revoked: true })
    expect((await server.get('/v2/organizations/acme/clusters', value)).status).toBe(401)
    expect((await millrace(['token', 'revoke', String(issued['id'])], settings)).code).toBe(1)
    expect((await millrace(['token', 'revoke', 'first'], settings)).code).toBe(1)

    const plain = await millrace([...token, ...scopes], settings)
    expect(plain.stdout).toMatch(/^mrt_\w{40}\n$/)
    expect((await server.get('/v2/organizations/acme/clusters', plain.stdout.trim())).status).toBe(200)
  })

  it('turns features on and off', async () => {
    const { settings, ...server } = theServer()
    await json(['org', 'create', 'switches', '--name', 'Switches'], settings)
    const person = ['--email', 'grace@example.com', '--name', 'Grace Example']
    await json(['user', 'create', ...person, '--org', 'switches', '--role', 'admin'], settings)
    const issued = await json(['token', 'create', '--user', 'grace@example.com', '--scope', 'all'], settings)
    const token = String(issued['token'])

    expect((await server.get('/v2/organizations/switches/audit_events', token)).status).toBe(200)
    const off = await json(
      ['org', 'set', 'switches', '--feature', 'audit_log=off', '--feature', 'tracestate=on'],
      settings,
    )
    expect(off).toEqual({ slug: 'switches', features: ['tracestate', 'members_view_teams'] })
    expect((await server.get('/v2/organizations/switches/audit_events', token)).status).toBe(403)
    const unknown = await millrace(['org', 'set', 'switches', '--feature', 'flying=on'], settings)
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(unknown.stderr).toContain('there is no feature "flying"')
    const nobody = await millrace(['org', 'set', 'nobody', '--feature', 'audit_log=on'], settings)
    expect(nobody).toMatchObject({ code: 1, stderr: 'There is no organization "nobody".\n' })
  })
})

/** The JSON that a command prints with --json. */
async function json(args: readonly string[], settings: Settings): Promise<Json> {
  const { code, stdout, stderr } = await millrace([...args, '--json'], settings)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Json
}
