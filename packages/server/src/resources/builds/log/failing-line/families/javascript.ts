// JavaScript's test runners, and exceptions that end a Node program.
import { weights, type Family } from '../family.ts'

const { cause, symptom, complaint, summary } = weights

export const javascript: readonly Family[] = [
  {
    name: 'jest',
    shapes: [
      {
        begins: /^\s*● (?!Console$|Validation Warning|Deprecation Warning|.*\b0 )\S/,
        points: /^\s{2,}\S/,
        within: 4,
        weight: cause,
      },
      { begins: /^\s*FAIL (?:\S+ )?\S+\.[cm]?[jt]sx?(?: \([\d.]+ m?s\))?$/, weight: complaint },
      { begins: /^\s+✕ \S/, weight: complaint },
    ],
    fails: /^(?:Tests|Test Suites): +(?:.* )?[1-9]\d* failed/,
    passes: /^Tests: +(?!.*failed)(?:.* )?[1-9]\d* passed/,
  },
  {
    name: 'vitest',
    shapes: [
      {
        begins: /^\s*FAIL\s+\S.*(?: > | \[ )/,
        points: /^\s*(?:[\w.]*(?:Error|Exception)\b|[A-Z]\w*: )/,
        within: 6,
        weight: cause,
      },
      { begins: /^\s+→ \S/, weight: complaint },
      { begins: /^\s*[×✗] \S/, weight: summary },
      {
        begins: /^[⎯ ]*Unhandled (?:Errors?|Rejection|Exception)\b/,
        points: /^\s*[\w.]*(?:Error|Exception)\b/,
        within: 6,
        weight: symptom,
      },
    ],
    fails: /^\s*(?:Test Files|Tests)\s+[1-9]\d* failed/,
    passes: /^\s*Tests\s+[1-9]\d* passed(?!.*failed)/,
  },
  {
    name: 'mocha',
    shapes: [
      {
        begins: /^\s+[1-9]\d* failing$/,
        points: /^\s+(?:Uncaught )?(?:[\w.]*(?:Error|Exception)\b.*:|Error\b)/,
        within: 30,
        weight: cause,
      },
    ],
  },
  {
    name: 'node:test',
    shapes: [
      {
        begins: /^(?:✖|𐄂) failing tests:$/,
        points: /^\s+(?:[\w.]*(?:Error|Exception)\b|\[?'?Error\b|'test failed')/,
        within: 30,
        weight: cause,
      },
      { begins: /^\s*✖ \S/, weight: complaint },
    ],
    fails: /^ℹ fail [1-9]/,
  },
  {
    name: 'playwright',
    shapes: [
      {
        begins: /^\s+\d+\) (?:\[[^\]]{1,60}\] › )?\S.* › /,
        points: /^\s+(?:[\w.]*Error\b|Test timeout|Expected|expect\()/,
        within: 6,
        weight: cause,
      },
    ],
    fails: /^\s+[1-9]\d* failed$/,
  },
  {
    name: 'ava',
    shapes: [{ begins: /^\s+✘ \[fail\]: /, weight: symptom }],
  },
]
