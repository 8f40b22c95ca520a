import { describe, expect, it } from 'vitest'
import { readJunit } from './junit.ts'

const read = (cases: string) => [
  ...readJunit(`<testsuites><testsuite name="s">${cases}</testsuite></testsuites>`),
]

describe('readJunit', () => {
  it('reads a test that passed', () => {
    expect(read('<testcase classname="Cart" name="adds" time="1,234.5" file="cart.rb" line="7"/>')).toEqual([
      {
        id: expect.any(String),
        scope: 'Cart',
        name: 'adds',
        location: 'cart.rb:7',
        fileName: 'cart.rb',
        result: 'passed',
        failureReason: null,
        failureExpanded: [],
        durationSeconds: 1234.5,
        tags: null,
      },
    ])
  })

  it.each([
    [
      '<failure message="1 != 2">at line 3\nat line 4</failure>',
      'failed',
      '1 != 2',
      ['at line 3', 'at line 4'],
    ],
    ['<error>boom\nthere</error>', 'failed', 'boom', ['boom', 'there']],
    ['<failure><![CDATA[<b> & more]]></failure>', 'failed', '<b> & more', ['<b> & more']],
    ['<failure message="only"/>', 'failed', 'only', null],
    ['<skipped message="later"/>', 'skipped', null, null],
    ['<system-out>failure</system-out>', 'passed', null, null],
    ['<rerunFailure message="flaky">x</rerunFailure>', 'passed', null, null],
    ['<skipped/><failure message="both"/>', 'failed', 'both', null],
  ])('understands %s', (inside, result, reason, lines) => {
    const [test] = read(`<testcase classname="A" name="b">${inside}</testcase>`)
    expect(test).toMatchObject({ result, failureReason: reason, durationSeconds: null, location: null })
    expect(test?.failureExpanded).toEqual(lines === null ? [] : [{ expanded: lines, backtrace: [] }])
  })

  it('stores the text of each of several failures', () => {
    const [test] = read(
      '<testcase classname="A" name="b"><failure>one</failure><failure>two</failure></testcase>',
    )
    expect(test).toMatchObject({
      failureReason: 'one',
      failureExpanded: [{ expanded: ['one'] }, { expanded: ['two'] }],
    })
  })

  it.each([
    ['test_basket', 'test_basket.py'],
    ['tests.test_basket.TestPrices', 'tests/test_basket.py'],
    ['tests.test_unit.basket_test.TestPrices', 'tests/test_unit/basket_test.py'],
    ['basket.Prices', null],
  ])('finds the file of pytest’s %s', (classname, fileName) => {
    const [test] = readJunit(
      `<testsuites><testsuite name="pytest"><testcase classname="${classname}" name="adds"/></testsuite></testsuites>`,
    )
    expect(test).toMatchObject({ scope: classname, fileName, location: fileName })
  })

  it.each([
    ['<testsuite errors="1"/>', [null]],
    ['<testsuite failures="1" errors="1">{failed}</testsuite>', ['failed', null]],
    ['<testsuites failures="2"><testsuite failures="2">{failed}</testsuite></testsuites>', ['failed', null]],
    ['<testsuites failures="2"><testsuite>{failed}</testsuite></testsuites>', ['failed', null]],
    ['<testsuites errors="1"><testsuite failures="1">{failed}</testsuite></testsuites>', ['failed']],
    ['<testsuite failures="-1" errors="none">{failed}</testsuite>', ['failed']],
  ])('returns null for a suite that counts more failures than it has: %s', (text, expected) => {
    const failed = '<testcase classname="A" name="b"><failure/></testcase>'
    const results = [...readJunit(text.replace('{failed}', failed))]
    expect(results.map((each) => each?.result ?? null)).toEqual(expected)
  })

  it('returns null for a test without a class or a name', () => {
    expect(read('<testcase name="a"/><testcase classname="A"/><testcase classname="" name="b"/>')).toEqual([
      null,
      null,
      null,
    ])
  })
})
