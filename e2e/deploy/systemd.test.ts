// The units of systemd: what they say, and what systemd says of them.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aDirectory } from '../millrace.ts'
import { findProgram, readText, unknownSettings, withProgram } from './files.ts'

const units = ['millrace.service', 'millrace-worker.service', 'millrace-agent@.service']

const linesOf = (unit: string): string[] =>
  readText(`deploy/systemd/${unit}`)
    .split('\n')
    .filter((line) => /^[A-Za-z]+=/.test(line))

describe.each(units)('%s', (unit) => {
  const lines = linesOf(unit)

  it('runs as a user of its own, without capabilities, on a read-only system', () => {
    expect(lines.filter((line) => /^(User|Group)=millrace/.test(line))).toHaveLength(2)
    for (const line of [
      'NoNewPrivileges=yes',
      'CapabilityBoundingSet=',
      'ProtectSystem=strict',
      'ProtectHome=yes',
      'PrivateTmp=yes',
      'PrivateDevices=yes',
      'ProtectProc=invisible',
      'SystemCallArchitectures=native',
    ])
      expect(lines).toContain(line)
  })

  it('has its settings in a file, and lets the process stop its children itself', () => {
    expect(lines.some((line) => line.startsWith('EnvironmentFile=/etc/millrace/'))).toBe(true)
    expect(lines).toContain('KillMode=mixed')
  })

  it('names settings that exist', () => {
    expect(unknownSettings(readText(`deploy/systemd/${unit}`))).toEqual([])
  })
})

describe('the unit of agents', () => {
  it('has another user than the server, who cannot reach its settings and data', () => {
    const lines = linesOf('millrace-agent@.service')
    expect(lines).toContain('User=millrace-agent')
    expect(lines).toContain('InaccessiblePaths=-/etc/millrace -/var/lib/millrace')
    expect(readText('deploy/systemd/millrace.conf')).toMatch(/^u millrace-agent /m)
  })
})

const analyze = findProgram('systemd-analyze')

withProgram(analyze, 'systemd-analyze').describe('systemd-analyze', () => {
  // The greatest exposure from 0 to 10. Agents run programs of others, which need more.
  const exposures = { 'millrace.service': 2, 'millrace-worker.service': 2, 'millrace-agent@.service': 3.5 }

  it.each(Object.entries(exposures))('finds no fault in %s, and an exposure of at most %s', (unit, most) => {
    const folder = aDirectory()
    const file = join(folder, unit.replace('@.', '@linux.'))
    // The command itself is not installed here.
    writeFileSync(file, readText(`deploy/systemd/${unit}`).replace('ExecStart=millrace', 'ExecStart=true'))
    const run = (...args: string[]) => spawnSync(analyze ?? '', args, { encoding: 'utf8' })
    // It warns about unknown lines, but fails only for units that cannot be loaded.
    expect(run('verify', '--man=no', file)).toMatchObject({ status: 0, stderr: '' })
    const rated = run('security', '--offline=yes', `--threshold=${most * 10}`, file)
    expect(rated).toMatchObject({ status: 0, stdout: expect.stringContaining('OK') })
  })
})
