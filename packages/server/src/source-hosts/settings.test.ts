import { describe, expect, it } from 'vitest'
import { checkSettings, providerOf, showSettings } from './settings.ts'

describe('providerOf', () => {
  it.each([
    ['git@github.com:acme/app.git', 'github'],
    ['https://github.com/acme/app.git', 'github'],
    ['https://user:secret@GitHub.com/acme/app', 'github'],
    ['ssh://git@ssh.github.com:443/acme/app.git', 'github'],
    ['git@gitlab.com:acme/group/app.git', 'gitlab'],
    ['https://bitbucket.org/acme/app', 'bitbucket'],
    ['https://git.example.com/acme/app.git', 'private'],
    ['https://github.com.example.com/acme/app.git', 'private'],
    ['https://example.com/github.com/app.git', 'private'],
    ['/srv/git/app.git', 'private'],
    ['constructor:acme/app', 'private'],
  ])('%s is at %s', (repository, provider) => {
    expect(providerOf(repository)).toBe(provider)
  })
})

describe('showSettings', () => {
  it('fills in the defaults of the host and the name of the repository there', () => {
    expect(showSettings('github', 'git@github.com:acme/app.git', { build_tags: true })).toMatchObject({
      repository: 'acme/app',
      trigger_mode: 'code',
      build_branches: true,
      build_pull_requests: true,
      build_tags: true,
      build_pull_request_forks: false,
      publish_commit_status: true,
      publish_commit_status_per_step: false,
    })
  })

  it('shows of a plain repository only what was set', () => {
    expect(showSettings('private', 'https://git.example.com/app.git', {})).toEqual({})
    expect(showSettings('private', 'https://git.example.com/app.git', { build_tags: true })).toEqual({
      build_tags: true,
    })
  })
})

describe('checkSettings', () => {
  it('takes every setting of the right type, and what is read only', () => {
    const settings = { trigger_mode: 'none', build_tags: true, filter_condition: 'build.branch == "main"' }
    expect(checkSettings({ ...settings, repository: 'acme/app' })).toEqual([])
    expect(checkSettings(showSettings('github', 'git@github.com:acme/app.git', {}))).toEqual([])
  })

  it.each([
    ['build_tag', true, 'is not a provider setting; did you mean build_tags?'],
    ['toString', true, 'is not a provider setting'],
    ['build_tags', 'true', 'must be a boolean'],
    ['build_tags', null, 'must be a boolean'],
    ['trigger_mode', 'push', 'must be one of code, deployment, fork, none'],
    ['filter_condition', true, 'must be a string or null'],
  ])('refuses %s: %s', (name, value, code) => {
    expect(checkSettings({ [name]: value })).toEqual([{ field: `provider_settings.${name}`, code }])
  })

  it('refuses a filter that is not a condition, with the place', () => {
    expect(checkSettings({ filter_condition: 'build.brunch == "main"' })).toEqual([
      {
        field: 'provider_settings.filter_condition',
        code: expect.stringMatching(/^is not a condition: .*at character 1$/),
      },
    ])
  })
})
