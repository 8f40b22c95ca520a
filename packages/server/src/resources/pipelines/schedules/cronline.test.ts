import { describe, expect, it } from 'vitest'
import { nextRun, nextRuns, readCronline } from './cronline.ts'

/** The next runs of a line, each after the one before. */
function runs(line: string, from: string, count = 3): string[] {
  const read = readCronline(line)
  if (!read.ok) throw new Error(read.reason)
  const found: string[] = []
  let at = new Date(from)
  while (found.length < count) {
    const next = nextRun(read.cronline, at)
    if (next === null) break
    found.push(shown(next))
    at = next
  }
  expect(nextRuns(read.cronline, new Date(from), count).map(shown)).toEqual(found)
  return found
}

const shown = (time: Date) => time.toISOString().replace(/:00\.000Z$/, 'Z')

describe('a cron line', () => {
  it.each([
    ['@hourly', ['2026-01-01T01:00Z', '2026-01-01T02:00Z', '2026-01-01T03:00Z']],
    ['@daily', ['2026-01-02T00:00Z', '2026-01-03T00:00Z', '2026-01-04T00:00Z']],
    ['@midnight', ['2026-01-02T00:00Z', '2026-01-03T00:00Z', '2026-01-04T00:00Z']],
    ['@weekly', ['2026-01-04T00:00Z', '2026-01-11T00:00Z', '2026-01-18T00:00Z']],
    ['@monthly', ['2026-02-01T00:00Z', '2026-03-01T00:00Z', '2026-04-01T00:00Z']],
    ['@yearly', ['2027-01-01T00:00Z', '2028-01-01T00:00Z', '2029-01-01T00:00Z']],
    ['@daily Asia/Tokyo', ['2026-01-01T15:00Z', '2026-01-02T15:00Z', '2026-01-03T15:00Z']],
    ['*/20 8 * * *', ['2026-01-01T08:00Z', '2026-01-01T08:20Z', '2026-01-01T08:40Z']],
    ['5/20 8 * * *', ['2026-01-01T08:05Z', '2026-01-01T08:25Z', '2026-01-01T08:45Z']],
    ['0 9-17/4 * * *', ['2026-01-01T09:00Z', '2026-01-01T13:00Z', '2026-01-01T17:00Z']],
    ['0 22-2/2 * * *', ['2026-01-01T02:00Z', '2026-01-01T22:00Z', '2026-01-02T00:00Z']],
    ['15,45 3,6 * * *', ['2026-01-01T03:15Z', '2026-01-01T03:45Z', '2026-01-01T06:15Z']],
    ['0 0 1,15 * *', ['2026-01-15T00:00Z', '2026-02-01T00:00Z', '2026-02-15T00:00Z']],
    ['0 0 * jan,December MON', ['2026-01-05T00:00Z', '2026-01-12T00:00Z', '2026-01-19T00:00Z']],
    ['0 0 * * mon-fri', ['2026-01-02T00:00Z', '2026-01-05T00:00Z', '2026-01-06T00:00Z']],
    ['0 0 * * fri-mon', ['2026-01-02T00:00Z', '2026-01-03T00:00Z', '2026-01-04T00:00Z']],
    ['0 0 * * 7', ['2026-01-04T00:00Z', '2026-01-11T00:00Z', '2026-01-18T00:00Z']],
    ['0 0 * * 6-7', ['2026-01-03T00:00Z', '2026-01-04T00:00Z', '2026-01-10T00:00Z']],
    ['0 0 29 2 *', ['2028-02-29T00:00Z', '2032-02-29T00:00Z', '2036-02-29T00:00Z']],
  ])('%s', (line, expected) => {
    expect(runs(line, '2026-01-01T00:30:00Z')).toEqual(expected)
  })

  it.each([
    ['L', ['01-31', '02-28', '03-31']],
    ['last', ['01-31', '02-28', '03-31']],
    ['-2', ['01-30', '02-27', '03-30']],
    ['-2-L', ['01-30', '01-31', '02-27']],
    ['1,L', ['01-31', '02-01', '02-28']],
    ['29-L', ['01-29', '01-30', '01-31']],
    ['30-2', ['01-02', '01-30', '01-31']],
    ['*/10', ['01-11', '01-21', '01-31']],
    ['11/10', ['01-11', '01-21', '01-31']],
  ])('counts days of the month from either end: %s', (dom, days) => {
    const found = runs(`0 0 ${dom} * *`, '2026-01-01T12:00:00Z')
    expect(found).toEqual(days.map((day) => `2026-${day}T00:00Z`))
  })

  it.each([
    ['fri#2', ['01-09', '02-13', '03-13']],
    ['5#L', ['01-30', '02-27', '03-27']],
    ['5#last', ['01-30', '02-27', '03-27']],
    ['5#-1', ['01-30', '02-27', '03-27']],
    ['5#-2', ['01-23', '02-20', '03-20']],
    ['mon#1,fri#1', ['01-02', '01-05', '02-02']],
    ['sat#5', ['01-31', '05-30', '08-29']],
  ])('counts weekdays of the month from either end: %s', (dow, days) => {
    const found = runs(`0 0 * * ${dow}`, '2026-01-01T12:00:00Z')
    expect(found).toEqual(days.map((day) => `2026-${day}T00:00Z`))
  })

  it('takes either of day and weekday where both are said, both after `&` or beside a star', () => {
    const from = '2026-02-01T12:00:00Z'
    expect(runs('0 0 13 * fri', from)).toEqual([
      '2026-02-06T00:00Z',
      '2026-02-13T00:00Z',
      '2026-02-20T00:00Z',
    ])
    expect(runs('0 0 13 * fri&', from)).toEqual([
      '2026-02-13T00:00Z',
      '2026-03-13T00:00Z',
      '2026-11-13T00:00Z',
    ])
    expect(runs('0 0 13& * fri', from, 1)).toEqual(['2026-02-13T00:00Z'])
    expect(runs('0 0 */2 * fri', from)).toEqual([
      '2026-02-13T00:00Z',
      '2026-02-27T00:00Z',
      '2026-03-13T00:00Z',
    ])
  })

  it('counts weeks from the first day of 2019 for `%`', () => {
    // 2019-01-01 is a Tuesday in week 1; its weeks begin on Tuesdays.
    expect(runs('0 0 * * tue%2', '2018-12-31T00:00:00Z')).toEqual([
      '2019-01-08T00:00Z',
      '2019-01-22T00:00Z',
      '2019-02-05T00:00Z',
    ])
    expect(runs('0 0 * * tue%2+1', '2018-12-31T00:00:00Z')).toEqual([
      '2019-01-01T00:00Z',
      '2019-01-15T00:00Z',
      '2019-01-29T00:00Z',
    ])
    expect(runs('0 0 * * 0%3+1', '2019-01-01T00:00:00Z')).toEqual([
      '2019-01-13T00:00Z',
      '2019-02-03T00:00Z',
      '2019-02-24T00:00Z',
    ])
    expect(runs('0 0 * * mon%4,wed%4', '2026-01-01T00:00:00Z')).toHaveLength(3)
  })

  it('is read on the clock of its zone', () => {
    const from = '2026-07-01T00:00:00Z'
    expect(runs('0 9 * * *', from, 1)).toEqual(['2026-07-01T09:00Z'])
    expect(runs('0 9 * * * Europe/Berlin', from, 1)).toEqual(['2026-07-01T07:00Z'])
    expect(runs('0 9 * * * america/new_york', from, 1)).toEqual(['2026-07-01T13:00Z'])
    expect(runs('0 9 * * * +05:30', from, 1)).toEqual(['2026-07-01T03:30Z'])
    expect(runs('0 1 1 7 * -0800', from, 1)).toEqual(['2026-07-01T09:00Z'])
    expect(runs('0 9 * * mon Pacific/Kiritimati', from, 1)).toEqual(['2026-07-05T19:00Z'])
    expect(runs('0 9 * * mon Pacific/Pago_Pago', from, 1)).toEqual(['2026-07-06T20:00Z'])
    expect(runs('0 9 * * * Z', from, 1)).toEqual(['2026-07-01T09:00Z'])
  })

  it.each([
    ['', 'must have five fields'],
    ['* * *', 'must have five fields'],
    ['0 0 * * * UTC more', 'must have five fields'],
    ['0 0 1 * * *', 'has the unknown time zone "*"'],
    ['0 0 * * * Mars/Olympus', 'has the unknown time zone "Mars/Olympus"'],
    ['0 0 * * * +25:00', 'has the unknown time zone'],
    ['0 0 * * * +2', 'has the unknown time zone'],
    ['@often', 'has "@often"; the words are @hourly'],
    ['@constructor', 'has "@constructor"'],
    ['0~30 * * * *', 'must not contain "~"'],
    ['60 * * * *', 'has "60" as minute'],
    ['0 24 * * *', 'has "24" as hour'],
    ['0 0 32 * *', 'has "32" as day-of-month'],
    ['0 0 0 * *', 'has "0" as day-of-month'],
    ['0 0 L-2 * *', 'has "L-2" as day-of-month'],
    ['0 0 * 13 *', 'has "13" as month'],
    ['0 0 * foo *', 'has "foo" as month'],
    ['0 0 * * 8', 'has "8" as day-of-week'],
    ['0 0 * * mon#6', 'has "mon#6" as day-of-week'],
    ['0 0 * * mon%0', 'has "mon%0" as day-of-week'],
    ['0 0 * * mo', 'has "mo" as day-of-week'],
    ['*/0 * * * *', 'has "*/0" as minute'],
    ['1- * * * *', 'has "1-" as minute'],
    [', * * * *', 'has "" as minute'],
    ['* * * * *', 'must not run more often than every 10 minutes'],
    ['*/5 * * * *', 'must not run more often'],
    ['*/11 * * * *', 'must not run more often'],
    ['0,9 3 * * *', 'must not run more often'],
    ['0,55 0,23 * * *', 'must not run more often'],
    ['0 0 31 feb *', 'names a day that never comes'],
  ])('%j is refused', (line, reason) => {
    const read = readCronline(line)
    expect(read).toEqual({ ok: false, reason: expect.stringContaining(reason) })
  })

  it.each(['*/10 * * * *', '0,10,20 * * * *', '5,55 3 * * *', '0 0 29 2 1&'])('%s is taken', (line) => {
    expect(readCronline(line).ok).toBe(true)
  })
})

describe('on the day the clock is put forward', () => {
  // New York leaves out 2:00 to 3:00 on 8 March 2026; 3:00 there is 7:00 UTC.
  const from = '2026-03-08T06:00:00Z'

  it('a time that does not exist comes at the first moment after', () => {
    expect(runs('30 2 * * * America/New_York', from, 2)).toEqual(['2026-03-08T07:00Z', '2026-03-09T06:30Z'])
  })

  it('several such times come together, once, and with a time that does exist', () => {
    expect(runs('0,30 2,3 * * * America/New_York', from)).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-08T07:30Z',
      '2026-03-09T06:00Z',
    ])
  })

  it('a line for every hour goes on by the hour', () => {
    expect(runs('0 * * * * America/New_York', from)).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-08T08:00Z',
      '2026-03-08T09:00Z',
    ])
  })
})

describe('on the day the clock is put back', () => {
  // New York has 1:00 to 2:00 twice on 1 November 2026, at 5:00 and 6:00 UTC.
  const from = '2026-11-01T04:00:00Z'

  it('a time that comes twice is kept the first time only, also when asked in between', () => {
    const line = '30 1 * * * America/New_York'
    expect(runs(line, from, 2)).toEqual(['2026-11-01T05:30Z', '2026-11-02T06:30Z'])
    expect(runs(line, '2026-11-01T05:45:00Z', 1)).toEqual(['2026-11-02T06:30Z'])
    expect(runs('0,30 1-2 * * * America/New_York', from, 5)).toEqual([
      '2026-11-01T05:00Z',
      '2026-11-01T05:30Z',
      '2026-11-01T07:00Z',
      '2026-11-01T07:30Z',
      '2026-11-02T06:00Z',
    ])
  })

  it('a line for every hour goes on by the hour', () => {
    expect(runs('30 * * * * America/New_York', from)).toEqual([
      '2026-11-01T04:30Z',
      '2026-11-01T05:30Z',
      '2026-11-01T06:30Z',
    ])
  })
})

it('a day that a zone leaves out is passed over', () => {
  // Samoa went from 29 to 31 December 2011.
  expect(runs('0 12 30 12 * Pacific/Apia', '2011-12-01T00:00:00Z', 1)).toEqual(['2012-12-29T22:00Z'])
})
