import { array, assert, nat, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFrameReader, encodeRequest } from './frames.ts'

const JOB_ID = '018f3a3e-9f7a-7c9a-b2c1-0f4f1f6a7b11'
const RESUME = '00000000021200'
const JOB = `000000002A2A280A260A24${Buffer.from(JOB_ID).toString('hex')}`
const PAUSE = '00000000071A050A03' + Buffer.from('why').toString('hex')
const DISCONNECT = '00000000022200'

describe('frames', () => {
  it('asks by the id of the agent', () => {
    expect(encodeRequest('a1').toString('hex')).toBe('00000000040a02' + Buffer.from('a1').toString('hex'))
  })

  it('reads every message, wherever the bytes are cut', () => {
    const bytes = Buffer.from(RESUME + JOB + PAUSE + DISCONNECT, 'hex')
    assert(
      property(array(nat(bytes.length)), (cuts) => {
        const read = createFrameReader()
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        const messages = places.slice(1).flatMap((end, index) => read(bytes.subarray(places[index], end)))
        expect(messages).toEqual([
          { action: 'resume' },
          { action: 'job', job_id: JOB_ID },
          { action: 'pause', reason: 'why' },
          { action: 'disconnect', reason: '' },
        ])
      }),
    )
  })

  it('passes over messages and fields it does not know', () => {
    const read = createFrameReader()
    expect(read(Buffer.from('00000000053a001d0102', 'hex'))).toEqual([])
    expect(read(Buffer.from('000000000408011200', 'hex'))).toEqual([{ action: 'resume' }])
  })

  it('refuses what is compressed or endless', () => {
    expect(() => createFrameReader()(Buffer.from('01000000021200', 'hex'))).toThrow('compressed')
    expect(() => createFrameReader()(Buffer.from('00ffffffff', 'hex'))).toThrow('too large')
  })
})
