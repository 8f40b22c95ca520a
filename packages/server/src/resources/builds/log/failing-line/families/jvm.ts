// Java and its kin: compilers, exceptions, Maven, Gradle.
import { weights, type Family } from '../family.ts'

const { cause, exception, symptom, complaint, summary, epilogue } = weights

export const jvm: readonly Family[] = [
  {
    name: 'maven',
    shapes: [
      { begins: /^\[ERROR\] \S+\.(?:java|kt|scala|groovy):(?:\[\d+,\d+\]|\d+:)/, weight: cause },
      {
        begins: /^\[ERROR\]\s+\S.*(?:Time elapsed|<<< (?:FAILURE|ERROR)!)/,
        points: /^(?:[\w$]+\.)+[\w$]*(?:Error|Exception|Failure|Failed|Mismatch)\b/,
        within: 4,
        weight: exception,
      },
      { begins: /^\[ERROR\]\s+[A-Z][\w.$]*:\d+/, weight: exception },
      {
        begins:
          /^\[ERROR\] (?:COMPILATION ERROR|Failures:|Errors:|Tests run:)|^\[ERROR\] Failed to execute goal .*(?:test failures|Compilation failure)/,
        weight: summary,
      },
      {
        begins:
          /^\[ERROR\] (?:To see|Re-run|For more|\[Help|After correcting|->|Please refer|See |\s|$)|^\[ERROR\]$/,
        weight: epilogue,
      },
      { begins: /^\[ERROR\] \S/, weight: complaint },
    ],
    fails: /^\[INFO\] BUILD FAILURE$/,
    passes: /^\[INFO\] BUILD SUCCESS$/,
  },
  {
    name: 'gradle',
    shapes: [
      { begins: /^\S.*\.(?:java|groovy|scala):\d+: error: /, weight: cause },
      { begins: /^e: \S/, weight: cause },
      {
        begins: /^\S.* > \S.* FAILED$/,
        points: /^\s+\S*(?:Error|Exception|Failure|Failed)\b/,
        within: 3,
        weight: cause,
      },
      { begins: /^FAILURE: Build (?:failed|completed) with /, weight: epilogue },
      { begins: /^> Task \S+ FAILED$/, weight: summary },
      { begins: /^\* What went wrong:$/, points: /^\s*> \S/, within: 6, weight: complaint },
    ],
    fails: /^BUILD FAILED in /,
    passes: /^BUILD SUCCESSFUL in /,
  },
  {
    name: 'java',
    gap: 60,
    shapes: [
      { begins: /^Exception in thread "/, weight: exception },
      { begins: /^(?:[\w$]+\.)+[\w$]*(?:Exception|Error)(?::|$)/, weight: exception },
      { begins: /^Caused by: /, weight: symptom },
      { begins: /^\S+\.java:\d+: error: /, weight: cause },
      { begins: /^error: compilation failed$/, weight: epilogue },
    ],
  },
]
