import { describe, expect, it } from 'vitest'
import { chooseImage, isServed, retrySeconds } from './rules.ts'

const images = {
  ready: new Map([['Tools', 'localhost/millrace/own:v1']]),
  building: new Set(['Coming']),
  registry: 'localhost/millrace',
  baseImage: 'debian:12',
}
const choose = (given: Partial<Parameters<typeof chooseImage>[0]>) =>
  chooseImage({ image: null, rules: [], queueImage: null, ...given }, images)

describe('the image of a job', () => {
  it('is the step’s, then the one its rules name, then the queue’s, then the base', () => {
    const rules = ['queue=default', 'image=Tools']
    expect(choose({ image: 'node:22', rules, queueImage: 'python:3' })).toEqual({
      kind: 'run',
      ref: 'node:22',
    })
    expect(choose({ rules, queueImage: 'python:3' })).toEqual({
      kind: 'run',
      ref: 'localhost/millrace/own:v1',
    })
    expect(choose({ queueImage: 'python:3' })).toEqual({ kind: 'run', ref: 'python:3' })
    expect(choose({})).toEqual({ kind: 'run', ref: 'debian:12' })
    expect(choose({ rules: ['image=*'] })).toEqual({ kind: 'run', ref: 'debian:12' })
  })

  it('is waited for while it is being built', () => {
    expect(choose({ rules: ['image=Coming'] })).toMatchObject({ kind: 'wait' })
    expect(choose({ queueImage: 'localhost/millrace/gone:v1' })).toMatchObject({ kind: 'wait' })
  })

  it('is refused where the cluster has none of that name, or it was built for another, or is no name at all', () => {
    expect(choose({ rules: ['image=Other'] })).toMatchObject({
      kind: 'refuse',
      reason: expect.stringContaining('no agent image "Other"'),
    })
    expect(choose({ image: 'localhost/millrace/theirs:v1' })).toMatchObject({ kind: 'refuse' })
    expect(choose({ image: 'localhost/millrace/own:v1' })).toMatchObject({ kind: 'run' })
    for (const image of ['--privileged', 'a b', 'a\nb', '../x', 'a'.repeat(501)]) {
      expect(choose({ image })).toMatchObject({ kind: 'refuse' })
    }
  })
})

describe('the rules of a job', () => {
  it('are met by what hosted agents are, beside queue and image', () => {
    const tags = ['os=linux', 'arch=amd64']
    expect(isServed(['queue=x', 'image=Tools', 'os=linux', 'arch=*'], tags)).toBe(true)
    expect(isServed(['gpu=yes'], tags)).toBe(false)
  })
})

describe('attempts', () => {
  it('come ever more rarely, and at least every 30 seconds', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map(retrySeconds)).toEqual([1, 2, 4, 8, 16, 30, 30])
  })
})
