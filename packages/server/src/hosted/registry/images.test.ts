import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { digestOf, TestRegistry } from '../../../test/hosted/kubernetes/registry.ts'
import { locate } from './images.ts'
import { openRegistry, type Registry } from './registry.ts'

describe('locate', () => {
  const digest = `sha256:${'0'.repeat(64)}`

  it.each([
    ['ubuntu', 'docker.io', 'library/ubuntu', 'latest'],
    ['ubuntu:24.04', 'docker.io', 'library/ubuntu', '24.04'],
    ['docker.io/library/ubuntu:24.04', 'docker.io', 'library/ubuntu', '24.04'],
    ['acme/tools:v1', 'docker.io', 'acme/tools', 'v1'],
    ['registry.example.com/tools', 'registry.example.com', 'tools', 'latest'],
    ['10.0.0.1:5000/a/b:v1', '10.0.0.1:5000', 'a/b', 'v1'],
    ['localhost/a:v1', 'localhost', 'a', 'v1'],
    [`10.0.0.1:5000/a:v1@${digest}`, '10.0.0.1:5000', 'a', digest],
  ])('%s', (image, host, name, reference) => {
    expect(locate(image)).toEqual({ host, name, reference })
  })
})

describe('stackImages', () => {
  const held = new TestRegistry()
  let registry: Registry
  let host = ''

  beforeEach(async () => {
    host = await held.start()
    const readCredentials = async () => null
    const closing = new AbortController().signal
    registry = openRegistry({ prefix: `${host}/millrace`, isInsecure: true, readCredentials, closing })
  })

  afterEach(() => held.stop())

  it('uses the image for this architecture from an index', async () => {
    const others = ['arm64', 'amd64', 's390x'].map((architecture) => ({
      digest: held.add(`${host}/base:${architecture}`, architecture),
      platform: { os: 'linux', architecture },
    }))
    const index = held.putIndex(`${host}/base:1`, others)
    expect(await registry.findDigest(`${host}/base:1`)).toBe(index)
    await registry.pushLayer(`${host}/millrace/top:1`, Readable.from(['top']))
    const made = `${host}/millrace/both:1`
    const digest = await registry.stackImages(`${host}/base:1`, `${host}/millrace/top:1`, made)
    const mine = process.arch === 'x64' ? 'amd64' : process.arch
    expect(held.layersOf(made, digest)).toEqual([digestOf(mine), digestOf('top')])
  })

  it('fails if the index has no image for this architecture', async () => {
    const platform = { os: 'windows', architecture: 'amd64' }
    held.putIndex(`${host}/base:2`, [{ digest: held.add(`${host}/base:w`, 'w'), platform }])
    await registry.pushLayer(`${host}/millrace/top:1`, Readable.from(['top']))
    await expect(
      registry.stackImages(`${host}/base:2`, `${host}/millrace/top:1`, `${host}/millrace/none:1`),
    ).rejects.toThrow('has no image for linux/')
  })

  it('fails if a manifest does not have the requested digest', async () => {
    const digest = held.add(`${host}/base:3`, 'three')
    held.manifests.set(`base@${digest}`, held.manifests.get(`base@${digest}`)?.replace('2', '3') ?? '')
    await expect(
      registry.stackImages(`${host}/base:3@${digest}`, `${host}/base:3`, `${host}/millrace/none:1`),
    ).rejects.toThrow('something else')
  })
})
