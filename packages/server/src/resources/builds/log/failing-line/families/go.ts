// Go: build, vet, test, panics, modules.
import { weights, type Family } from '../family.ts'

const { cause, exception, symptom, complaint, summary, epilogue } = weights

export const go: readonly Family[] = [
  {
    name: 'go',
    remembers: {
      cause: /^\s+\S+_test\.go:\d+: /,
      forgets: /^(?:=== (?:RUN|CONT|NAME)|\s*--- (?:PASS|SKIP|FAIL): )/,
    },
    shapes: [
      {
        begins: /^\s*--- FAIL: \S/,
        points: /^\s+\S+\.go:\d+: /,
        within: 3,
        pointsBack: true,
        weight: exception,
      },
      { begins: /^(?:vet: )?(?:\.{0,2}\/)?[^\s:]+\.go:\d+:\d+: \S/, weight: cause },
      { begins: /^panic: (?!.*\[recovered\]$)\S|^panic: .*\[recovered\]$/, weight: cause },
      { begins: /^fatal error: \S/, weight: cause },
      {
        begins:
          /^go: (?!downloading|finding|added|upgraded|found|extracting|creating|to add|downgraded|removed|warning)\S/,
        weight: exception,
      },
      { begins: /^\S+\.go:\d+: \S/, weight: symptom },
      { begins: /^FAIL\t\S+ \[(?:build|setup) failed\]/, weight: summary },
      { begins: /^FAIL\t\S/, weight: summary },
      { begins: /^(?:FAIL|exit status \d+)$/, weight: epilogue },
      { begins: /^level=error msg=|^\S+\.go:\d+:\d+: .+ \(\w+\)$/, weight: complaint },
    ],
  },
]
