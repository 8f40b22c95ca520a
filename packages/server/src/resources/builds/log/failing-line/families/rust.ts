// Rust: rustc, Cargo, tests, panics.
import { weights, type Family } from '../family.ts'

const { cause, exception, complaint, summary, epilogue } = weights

export const rust: readonly Family[] = [
  {
    name: 'rust',
    shapes: [
      {
        begins: /^error: (?:test failed, to rerun|\d+ targets? failed|process didn't exit|.* generated \d)/,
        weight: epilogue,
      },
      {
        begins: /^error: (?:could not compile|aborting due to|\d+ jobs? failed|build failed)/,
        weight: summary,
      },
      { begins: /^error\[E\d+\]: /, weight: cause },
      { begins: /^(?:\s*\d+: )?thread '[^']+' (?:\(\d+\) )?panicked at /, weight: cause },
      { begins: /^thread '[^']+' has overflowed its stack/, weight: cause },
      {
        begins: /^error: (?=.*$)(?!Recipe |unknown option)/,
        points: /^\s+--> \S+:\d+:\d+$/,
        within: 0,
        weight: complaint,
      },
      { begins: /^test \S+ \.\.\. FAILED$/, weight: complaint },
      { begins: /^---- \S+ stdout ----$/, weight: summary },
      { begins: /^Error: \w+(?: ?\{|\()/, weight: exception },
    ],
    fails: /^test result: FAILED\./,
  },
]
