import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { withHostTags } from './host-tags.ts'

const systems: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' }
const processors: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
const own = {
  os: `os=${systems[process.platform] ?? process.platform}`,
  arch: `arch=${processors[process.arch] ?? process.arch}`,
  hostname: `hostname=${hostname()}`,
}

describe('withHostTags', () => {
  it('adds the system, the processor and the name of the machine', () => {
    expect(withHostTags([])).toEqual([own.os, own.arch, own.hostname])
    expect(withHostTags(['gpu=no', 'queue=fast'])).toEqual([
      'gpu=no',
      'queue=fast',
      own.os,
      own.arch,
      own.hostname,
    ])
  })

  it("leaves the operator's tags as they are, also without a value and with several", () => {
    expect(withHostTags(['os=plan9', 'hostname', 'arch=a', ' arch=b'])).toEqual([
      'os=plan9',
      'hostname',
      'arch=a',
      ' arch=b',
    ])
    expect(withHostTags(['os=plan9'])).toEqual(['os=plan9', own.arch, own.hostname])
  })
})
