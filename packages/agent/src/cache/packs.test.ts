import { describe, expect, it } from 'vitest'
import type { FileInRoot } from './manifest.ts'
import { cutPacks, MOST_BYTES, slicePacks } from './packs.ts'

const aFile = (path: string, size: number): FileInRoot => ({
  root: 0,
  file: { kind: 'file', path, mode: 0o644, mtimeMs: 0, size },
})

const files = (count: number, size: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => aFile(`some/folder/file-${index}.js`, size(index)))

const namesOf = (packs: ReturnType<typeof cutPacks>) =>
  packs.map(({ slices }) => slices.map(({ file, start }) => `${file.path}:${start}`).join())

describe('packs', () => {
  it('hold every byte of every file once, in order, and are bounded', () => {
    const given = [
      ...files(3000, (index) => (index * 7919) % 40_000),
      aFile('large', 50_000_000),
      aFile('z', 5),
    ]
    const packs = cutPacks(given, ['deps'])
    expect(packs.every(({ size }) => size > 0 && size <= MOST_BYTES)).toBe(true)
    expect(packs.length).toBeGreaterThan(10)
    const sizes = packs.map(({ size }) => size)
    expect(slicePacks(given, sizes)).toEqual(packs.map(({ slices }) => slices))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(
      given.reduce((sum, { file }) => sum + file.size, 0),
    )
  })

  it.each([
    ['added', (all: FileInRoot[]) => all.toSpliced(1500, 0, aFile('some/folder/new', 3000))],
    ['removed', (all: FileInRoot[]) => all.toSpliced(1500, 1)],
  ])('stay the same around a file that was %s', (_, change) => {
    const given = files(3000, () => 20_000)
    const before = new Set(namesOf(cutPacks(given, ['deps'])))
    const changed = namesOf(cutPacks(change(given), ['deps'])).filter((name) => !before.has(name))
    expect(before.size).toBeGreaterThan(8)
    expect(changed.length).toBeLessThanOrEqual(2)
  })
})
