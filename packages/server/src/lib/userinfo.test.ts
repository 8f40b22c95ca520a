import { describe, expect, it } from 'vitest'
import { joinUserinfo, splitUserinfo } from './userinfo.ts'

describe('the address of a repository', () => {
  it.each([
    ['https://me:secret@git.example.com/app.git', 'https://git.example.com/app.git', 'me:secret'],
    ['https://token@github.com/acme/app', 'https://github.com/acme/app', 'token'],
    ['HTTPS://a:b@c@host:8443/x?y=z', 'HTTPS://host:8443/x?y=z', 'a:b@c'],
    ['http://:x@host/', 'http://host/', ':x'],
    ['https://@host/', 'https://host/', ''],
    ['ssh://git:pw@host:22/app', 'ssh://git@host:22/app', 'git:pw'],
    ['git+ssh://git:pw@host/app', 'git+ssh://git@host/app', 'git:pw'],
  ])('%s is shown without its userinfo', (text, address, userinfo) => {
    expect(splitUserinfo(text)).toEqual({ address, userinfo })
    expect(joinUserinfo(address, userinfo)).toBe(text)
  })

  it.each([
    'https://github.com/acme/app.git',
    'https://host/a@b',
    'git@github.com:acme/app.git',
    'ssh://git@host/app',
    '/srv/git/app.git',
    'none',
  ])('%s is not changed', (text) => {
    expect(splitUserinfo(text)).toEqual({ address: text, userinfo: null })
  })
})
