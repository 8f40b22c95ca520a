import { describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'

describe('MILLRACE_HOSTED', () => {
  const hosted = (env: Record<string, string>) => {
    const read = readConfig(env)
    return read.ok ? read.config.hosted : read.problems
  }

  it('is absent: no hosted clusters, whatever else is set', () => {
    expect(hosted({})).toBeNull()
    expect(hosted({ MILLRACE_HOSTED_CPUS: 'many' })).toBeNull()
  })

  it('names the socket of a container engine', () => {
    expect(hosted({ MILLRACE_HOSTED: 'docker:///var/run/docker.sock', PORT: '4000' })).toMatchObject({
      engine: { kind: 'docker', socketPath: '/var/run/docker.sock' },
      endpoint: 'http://127.0.0.1:4000/v3',
      registry: 'localhost/millrace',
    })
  })

  it('lets containers reach the server, what MILLRACE_HOSTED_ALLOW lists, or the whole machine', () => {
    const allowed = (env: Record<string, string>) => {
      const read = hosted({
        MILLRACE_HOSTED: 'docker:///d.sock',
        MILLRACE_URL: 'https://ci.example.com',
        ...env,
      })
      return read !== null && 'allowed' in read ? read.allowed : read
    }
    expect(allowed({})).toEqual(['ci.example.com:443'])
    const more = {
      MILLRACE_HOSTED_ENDPOINT: 'http://172.17.0.1:3000/v3',
      MILLRACE_HOSTED_ALLOW: '172.17.0.1:22, git.example.com:443',
    }
    const places = ['172.17.0.1:3000', 'ci.example.com:443', '172.17.0.1:22', 'git.example.com:443']
    expect(allowed(more)).toEqual(places)
    expect(allowed({ MILLRACE_HOSTED_ALLOW: '*' })).toBeNull()
  })

  it('says plainly that there is no driver for Kubernetes', () => {
    expect(hosted({ MILLRACE_HOSTED: 'kubernetes:ci' })).toEqual([expect.stringContaining('no driver')])
  })

  it.each(['docker', 'docker://', 'docker://relative.sock', 'kube', 'podman'])(
    'is refused: %s',
    (MILLRACE_HOSTED) => {
      expect(hosted({ MILLRACE_HOSTED })).toEqual([expect.stringContaining('MILLRACE_HOSTED must')])
    },
  )

  it.each([
    ['MILLRACE_HOSTED_ENDPOINT', 'ftp://host'],
    ['MILLRACE_HOSTED_REGISTRY', 'Upper Case'],
    ['MILLRACE_HOSTED_BASE_IMAGE', 'a\nRUN b'],
    ['MILLRACE_HOSTED_IMAGE_BUILDS', '0'],
    ['MILLRACE_HOSTED_CACHE_GB', '-1'],
    ['MILLRACE_HOSTED_ALLOW', '10.0.0.5'],
    ['MILLRACE_HOSTED_ALLOW', '*,10.0.0.5:443'],
  ])('comes with a setting that is refused: %s=%j', (name, value) => {
    const problems = hosted({ MILLRACE_HOSTED: 'docker:///d.sock', [name]: value })
    expect(problems).toEqual([expect.stringContaining(name)])
  })
})
