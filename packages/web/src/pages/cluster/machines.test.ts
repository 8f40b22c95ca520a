import { expect, it } from 'vitest'
import { describeMachine, isSameKind } from './machines.ts'

it('describes machines in words', () => {
  expect(describeMachine('LINUX_AMD64_2X4')).toBe('2 CPUs, 4 GB, Linux amd64')
  expect(describeMachine('MACOS_ARM64_M4_6X28')).toBe('6 CPUs, 28 GB, macOS arm64')
  expect(describeMachine('OTHER')).toBe('OTHER')
})

it('knows machines of the same system and architecture', () => {
  expect(isSameKind('LINUX_AMD64_2X4', 'LINUX_AMD64_64X256')).toBe(true)
  expect(isSameKind('LINUX_AMD64_2X4', 'LINUX_ARM64_2X4')).toBe(false)
})
