import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { aFolder } from '../../test/running.ts'
import { findAccess, profilesFile, readProfiles, readUrl, writeProfiles } from './profiles.ts'

const one = { url: 'https://one.example.com', token: 'token-one', org: 'acme' }
const two = { url: 'https://two.example.com', token: 'token-two', org: null }

function aHome(current: string | null = 'one') {
  const env = { XDG_CONFIG_HOME: aFolder(), MILLRACE_DATA_DIR: aFolder() }
  writeProfiles({ current, profiles: { one, two } }, env)
  return env
}

const modeOf = (path: string) => statSync(path).mode & 0o777

describe('stored logins', () => {
  it('are in a file that only this user can read, in a folder that only this user can enter', () => {
    const env = { XDG_CONFIG_HOME: aFolder() }
    const folder = join(env.XDG_CONFIG_HOME, 'millrace')
    mkdirSync(folder, { mode: 0o755 })
    writeProfiles({ current: 'one', profiles: { one } }, env)
    expect([modeOf(folder), modeOf(profilesFile(env))]).toEqual([0o700, 0o600])
    expect(readdirSync(folder)).toEqual(['profiles.json'])
    expect(readProfiles(env)).toEqual({ current: 'one', profiles: { one } })
  })

  it('are protected again when others can read the file, and the user is told', () => {
    const env = aHome()
    chmodSync(profilesFile(env), 0o644)
    const said = vi.spyOn(console, 'error').mockImplementation(() => {})
    readProfiles(env)
    expect(said).toHaveBeenCalledWith(expect.stringContaining('Other users could read'))
    vi.restoreAllMocks()
    expect(modeOf(profilesFile(env))).toBe(0o600)
  })

  it('stay behind a link', () => {
    const env = { XDG_CONFIG_HOME: aFolder() }
    const real = join(aFolder(), 'profiles.json')
    writeFileSync(real, '{"current":null,"profiles":{}}', { mode: 0o600 })
    mkdirSync(join(env.XDG_CONFIG_HOME, 'millrace'))
    symlinkSync(real, profilesFile(env))
    writeProfiles({ current: 'one', profiles: { one } }, env)
    expect(lstatSync(profilesFile(env)).isSymbolicLink()).toBe(true)
    expect(readProfiles(env).current).toBe('one')
  })

  it('are below the home folder without XDG_CONFIG_HOME', () => {
    expect(profilesFile({ HOME: '/home/ada' })).toBe('/home/ada/.config/millrace/profiles.json')
    expect(profilesFile({ HOME: '/home/ada', XDG_CONFIG_HOME: 'relative' })).toBe(
      '/home/ada/.config/millrace/profiles.json',
    )
  })

  it.each(['{', '[]x', '{"profiles":{"a":{"url":1}}}', '{"profiles":{"a":null}}'])(
    'that are damaged are refused: %s',
    (text) => {
      const env = aHome()
      writeFileSync(profilesFile(env), text)
      expect(() => readProfiles(env)).toThrow(/is damaged: delete it/)
    },
  )
})

describe('the login that a command uses', () => {
  it('is the current one, or the one that --profile names', () => {
    const env = aHome()
    expect(findAccess({}, env)).toEqual({ ...one, source: 'of the profile one', profile: 'one' })
    expect(findAccess({ profile: 'two', org: 'other' }, env)).toEqual({
      ...two,
      org: 'other',
      source: 'of the profile two',
      profile: 'two',
    })
    expect(() => findAccess({ profile: 'three' }, env)).toThrow('choose one of one, two')
    expect(() => findAccess({ profile: '__proto__' }, env)).toThrow('There is no profile __proto__')
  })

  it('gives way to MILLRACE_URL, MILLRACE_TOKEN and MILLRACE_ORG', () => {
    const env = { ...aHome(), MILLRACE_TOKEN: 'given', MILLRACE_ORG: 'other' }
    expect(findAccess({}, env)).toEqual({ ...one, token: 'given', org: 'other', source: 'in MILLRACE_TOKEN' })
    expect(findAccess({ org: 'third' }, env).org).toBe('third')
    expect(findAccess({}, { ...env, MILLRACE_URL: 'https://three.example.com/' })).toMatchObject({
      url: 'https://three.example.com',
      token: 'given',
    })
  })

  it('never sends a stored token to another server', () => {
    const env = aHome()
    expect(findAccess({}, { ...env, MILLRACE_URL: 'https://two.example.com' }).token).toBe('token-two')
    expect(() => findAccess({}, { ...env, MILLRACE_URL: 'https://evil.example.com' })).toThrow(
      'You are not logged in to https://evil.example.com',
    )
    expect(() => findAccess({}, { ...env, MILLRACE_URL: 'http://one.example.com' })).toThrow('not logged in')
  })

  it('is missed with the way to log in, and with a local server with the command that makes a token', () => {
    const env = { XDG_CONFIG_HOME: aFolder(), MILLRACE_DATA_DIR: aFolder(), PORT: '4000' }
    expect(() => findAccess({}, env)).toThrow(/millrace login --url https:\/\/ci\.example\.com$/)
    mkdirSync(join(env.MILLRACE_DATA_DIR, 'postgres'))
    expect(() => findAccess({}, env)).toThrow(
      'millrace token create --user admin@localhost --scope all | ' +
        'millrace login --url http://127.0.0.1:4000 --token-stdin',
    )
    expect(() => findAccess({}, { ...env, MILLRACE_TOKEN: 'x' })).toThrow('set MILLRACE_URL too')
  })
})

describe('the URL of a server', () => {
  it.each([
    ['ci.example.com', 'https://ci.example.com'],
    ['https://ci.example.com/', 'https://ci.example.com'],
    ['https://CI.example.com/v2/', 'https://ci.example.com'],
    ['localhost:3000', 'http://localhost:3000'],
    ['127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['https://example.com/ci/', 'https://example.com/ci'],
  ])('is read from %s', (text, url) => {
    expect(readUrl(text)).toBe(url)
  })

  it.each(['https://', 'https://user:pass@example.com', 'https://a b', 'https://a.example.com/?x=1'])(
    'is not %s',
    (text) => expect(() => readUrl(text)).toThrow('is not the URL of a server'),
  )
})
