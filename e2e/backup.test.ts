import { existsSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aDataDirectory, aDirectory, millrace, startServer, stop } from './millrace.ts'

describe('millrace backup and millrace restore', () => {
  it('move an installation to another data directory, with its secret key if asked', async () => {
    const folder = aDirectory()
    const file = join(folder, 'monday.tar.gz')
    const settings = { MILLRACE_DATA_DIR: aDataDirectory() }
    const server = await startServer(settings)
    await server.post('/v2/organizations/default/clusters', { name: 'carried over' })
    const { body: queue } = await server.get('/v2/organizations/default/clusters')
    const secrets = `/v2/organizations/default/clusters/${String(queue['0']?.['id'])}/secrets`
    expect((await server.post(secrets, { key: 'PASSWORD', value: 'hush' })).status).toBe(201)

    const backup = await millrace(['backup', file, '--include-secret-key', '--json'], settings)
    expect(backup).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(backup.stdout)).toMatchObject({
      file,
      bytes: statSync(file).size,
      secret_key: true,
      blobs: 0,
      tables: { organizations: 1, clusters: 2, cluster_secrets: 1 },
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(`${file}.partial`)).toBe(false)

    const beside = await millrace(['restore', file], settings)
    expect(beside).toMatchObject({ code: 1, stdout: '' })
    expect(beside.stderr).toMatch(/^A Millrace server runs on this database: .*\.\n$/)
    await stop(server)
    const refused = await millrace(['restore', file], settings)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^The database already has an organization: .*\.\n$/)

    const elsewhere = { MILLRACE_DATA_DIR: join(folder, 'data') }
    const restored = await millrace(['restore', file, '--json'], elsewhere)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(restored.stdout)).toMatchObject({ secret_key: true, tables: { clusters: 2 } })
    const again = await startServer(elsewhere)
    const { body } = await again.get('/v2/organizations/default/clusters', server.token)
    expect(body).toMatchObject([{ name: 'Default cluster' }, { name: 'carried over' }])
  })

  it('leave the secret key out otherwise, and say so', async () => {
    const folder = aDirectory()
    const file = join(folder, 'backup.tar.gz')
    const settings = { MILLRACE_DATA_DIR: aDataDirectory() }
    expect((await millrace(['org', 'create', 'acme', '--name', 'Acme'], settings)).code).toBe(0)
    const { stdout } = await millrace(['backup', file], settings)
    expect(stdout).toContain('without the secret key')
    const copy = /^Without that key the stored secrets are lost\. .*: cp -p (\S+) ELSEWHERE$/m.exec(stdout)
    expect(copy?.[1]).toBe(join(settings.MILLRACE_DATA_DIR, 'secret-key'))
    const given = { ...settings, MILLRACE_SECRET_KEY: 'k'.repeat(40) }
    const other = await millrace(['backup', file], given)
    expect(other.stdout).toContain('Keep the value of MILLRACE_SECRET_KEY apart')
    const elsewhere = { MILLRACE_DATA_DIR: join(folder, 'data') }
    const restored = await millrace(['restore', file], elsewhere)
    expect(restored.code).toBe(0)
    expect(restored.stdout).toContain('The secret key was not in the backup')
    expect(existsSync(join(folder, 'data', 'secret-key'))).toBe(false)
  })

  it('say that files in S3 are not in it', async () => {
    const file = join(aDirectory(), 'backup.tar.gz')
    const settings = {
      MILLRACE_DATA_DIR: aDataDirectory(),
      MILLRACE_BLOBS: 's3://ci-files/prod?endpoint=http://127.0.0.1:1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
    }
    expect((await millrace(['org', 'create', 'acme', '--name', 'Acme'], settings)).code).toBe(0)
    const backup = await millrace(['backup', file], settings)
    expect([backup.code, backup.stdout]).toEqual([
      0,
      expect.stringContaining('The logs and artifacts in s3://ci-files/prod/ are NOT in it'),
    ])
    const json = await millrace(['backup', file, '--json'], settings)
    expect(JSON.parse(json.stdout)).toMatchObject({ left_out: 's3://ci-files/prod/' })
  })

  it('refuse unreadable and unwritable files in one sentence, and leave nothing behind', async () => {
    const folder = aDirectory()
    const file = join(folder, 'backup.tar.gz')
    const settings = { MILLRACE_DATA_DIR: aDataDirectory() }
    expect((await millrace(['org', 'create', 'acme', '--name', 'Acme'], settings)).code).toBe(0)
    const nowhere = await millrace(['backup', join(folder, 'missing', 'file')], settings)
    expect(nowhere).toMatchObject({ code: 1, stdout: '' })
    expect(nowhere.stderr).toMatch(/^The backup cannot be written to .* \(ENOENT\): .*\.\n$/)

    const elsewhere = { MILLRACE_DATA_DIR: join(folder, 'data') }
    const absent = await millrace(['restore', file], elsewhere)
    expect(absent).toMatchObject({ code: 1, stdout: '' })
    expect(absent.stderr).toMatch(/^The backup .* cannot be read \(ENOENT\): .*\.\n$/)

    expect((await millrace(['backup', file], settings)).code).toBe(0)
    truncateSync(file, Math.floor(statSync(file).size / 2))
    const cut = await millrace(['restore', file], elsewhere)
    expect(cut).toMatchObject({ code: 1, stdout: '' })
    expect(cut.stderr).toMatch(/is damaged or not a backup of Millrace \(.*\): restore another backup\.\n$/)

    writeFileSync(file, 'a letter to my aunt')
    const letter = await millrace(['restore', file], elsewhere)
    expect(letter.code).toBe(1)
    expect(letter.stderr).toMatch(
      /is damaged or not a backup of Millrace \(.*\): restore another backup\.\n$/,
    )

    expect((await startServer(elsewhere)).token).toMatch(/^mrt_/)
  })
})
