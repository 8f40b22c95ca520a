import { describe, expect, it } from 'vitest'
import { chooseImage, matchesHosted, retrySeconds } from './rules.ts'

const images = {
  ready: new Map([['Tools', 'localhost/millrace/own:v1']]),
  building: new Set(['Coming']),
  registry: 'localhost/millrace',
  baseImage: 'debian:12',
}
const choose = (given: Partial<Parameters<typeof chooseImage>[0]>) =>
  chooseImage({ image: null, rules: [], queueImage: null, ...given }, images)

describe('chooseImage', () => {
  it('is the step’s, else the one its rules name, else the queue’s, else the base image', () => {
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

  it('makes the job wait while it is being built', () => {
    expect(choose({ rules: ['image=Coming'] })).toMatchObject({ kind: 'wait' })
    expect(choose({ queueImage: 'localhost/millrace/gone:v1' })).toMatchObject({ kind: 'wait' })
  })

  it('is refused if the cluster has none of that name, if it was built for another cluster, or if it is not a valid name', () => {
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

describe('matchesHosted', () => {
  it('compares the rules with the tags of hosted agents, apart from queue and image', () => {
    const tags = ['os=linux', 'arch=amd64']
    expect(matchesHosted(['queue=x', 'image=Tools', 'os=linux', 'arch=*'], tags)).toBe(true)
    expect(matchesHosted(['gpu=yes'], tags)).toBe(false)
  })
})

describe('retrySeconds', () => {
  it('doubles with each attempt, up to 30 seconds', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map(retrySeconds)).toEqual([1, 2, 4, 8, 16, 30, 30])
  })
})
