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

  const onKubernetes = {
    MILLRACE_HOSTED: 'kubernetes:ci',
    MILLRACE_HOSTED_REGISTRY: 'registry.example.com/millrace',
  }

  it('are on Kubernetes by the name of a namespace', () => {
    expect(hosted(onKubernetes)).toMatchObject({
      engine: { kind: 'kubernetes', namespace: 'ci', kubeconfig: null, snapshotClass: null },
    })
    const more = {
      KUBECONFIG: '/etc/kube',
      MILLRACE_HOSTED_SNAPSHOT_CLASS: 'csi',
      MILLRACE_HOSTED_OUTBOUND_ALLOW: '10.1.0.0/16',
    }
    expect(hosted({ ...onKubernetes, ...more })).toMatchObject({
      engine: { kubeconfig: '/etc/kube', snapshotClass: 'csi', outboundAllow: ['10.1.0.0/16'] },
    })
  })

  it('need a registry on Kubernetes', () => {
    expect(hosted({ MILLRACE_HOSTED: 'kubernetes:ci' })).toEqual([
      expect.stringContaining('MILLRACE_HOSTED_REGISTRY must name a registry'),
    ])
  })

  it.each([
    ['MILLRACE_HOSTED_STORAGE_CLASS', 'Upper Case'],
    ['MILLRACE_HOSTED_REGISTRY_SECRET', '../other'],
    ['MILLRACE_HOSTED_OUTBOUND_ALLOW', 'everywhere'],
    ['MILLRACE_HOSTED_BUILDKIT_IMAGE', 'a b'],
  ])('are refused on Kubernetes with a wrong %s', (name, value) => {
    expect(hosted({ ...onKubernetes, [name]: value })).toEqual([expect.stringContaining(name)])
  })

  it.each([
    'docker',
    'docker://',
    'docker://relative.sock',
    'kube',
    'kubernetes:',
    'kubernetes:a/b',
    'podman',
  ])('is refused: %s', (MILLRACE_HOSTED) => {
    expect(hosted({ MILLRACE_HOSTED })).toEqual([expect.stringContaining('MILLRACE_HOSTED must')])
  })

  it.each([
    ['MILLRACE_HOSTED_ENDPOINT', 'ftp://host'],
    ['MILLRACE_HOSTED_REGISTRY', 'Upper Case'],
    ['MILLRACE_HOSTED_BASE_IMAGE', 'a\nRUN b'],
    ['MILLRACE_HOSTED_IMAGE_BUILDS', '0'],
    ['MILLRACE_HOSTED_CACHE_GB', '-1'],
  ])('comes with a setting that is refused: %s=%j', (name, value) => {
    const problems = hosted({ MILLRACE_HOSTED: 'docker:///d.sock', [name]: value })
    expect(problems).toEqual([expect.stringContaining(name)])
  })
})
