import { describe, expect, it } from 'vitest'
import { readShape } from '../../clusters/queues/rules.ts'
import { judgeHosted, type HostedFacts } from './hosted-rules.ts'

const judge = (shape: string, given: Partial<HostedFacts> = {}) =>
  judgeHosted({
    queueKey: 'linux',
    shape: readShape(shape),
    rules: [],
    engine: { architecture: 'amd64', mostCpus: 8 },
    agent: undefined,
    readyImages: ['tools'],
    ...given,
  })

describe('why a job of a hosted queue waits', () => {
  it('for room only where room would help', () => {
    expect(judge('LINUX_AMD64_8X32')).toEqual({
      code: 'hosted_room',
      reason: 'The job waits for room: an agent of the queue "linux" takes 8 vCPUs (LINUX_AMD64_8X32).',
    })
  })

  it('for a machine with another processor', () => {
    expect(judge('LINUX_ARM64_2X4')).toEqual({
      code: 'no_agent',
      reason:
        'The queue "linux" asks for LINUX_ARM64_2X4, and this installation starts containers for amd64 only.',
    })
    const arm = { engine: { architecture: 'arm64', mostCpus: 8 } }
    expect(judge('LINUX_ARM64_2X4', arm).code).toBe('hosted_room')
    expect(judge('LINUX_AMD64_2X4', arm).reason).toContain('for arm64 only')
  })

  it('for a machine with another system', () => {
    expect(judge('MACOS_ARM64_M4_6X28')).toMatchObject({
      code: 'no_agent',
      reason: expect.stringContaining('this installation starts Linux containers only'),
    })
  })

  it('for more processors than all containers may have', () => {
    expect(judge('LINUX_AMD64_16X64')).toMatchObject({
      code: 'no_agent',
      reason: expect.stringContaining('may have 8 vCPUs (MILLRACE_HOSTED_CPUS)'),
    })
  })

  it('for an agent that no container of the queue would be', () => {
    const wishes = ['queue=linux', 'image=tools', 'os=linux', 'arch=*']
    expect(judge('LINUX_AMD64_2X4', { rules: wishes }).code).toBe('hosted_room')
    expect(judge('LINUX_AMD64_2X4', { rules: [...wishes, 'arch=arm64', 'gpu=true'] })).toEqual({
      code: 'no_agent',
      reason: 'The agents of the hosted queue "linux" do not have arch=arm64 and gpu=true.',
    })
  })

  it('for an image that is not ready', () => {
    expect(judge('LINUX_AMD64_2X4', { rules: ['image=other'] })).toEqual({
      code: 'no_agent',
      reason: 'The cluster has no agent image "other" that is ready.',
    })
  })

  it('for an engine, where none is configured', () => {
    expect(judge('LINUX_AMD64_2X4', { engine: null })).toMatchObject({ code: 'no_agent' })
  })
})
