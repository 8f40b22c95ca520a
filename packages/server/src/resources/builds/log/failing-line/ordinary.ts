// Rows that are no sign of a failure although they have its words, and what any program may write when it fails.
import { weights, type Family } from './family.ts'

/** A command that a shell, an agent, npm or Yarn repeats before it runs it, and remarks of agents. */
export const echo = /^(?:\$ |\++ \S|# (?!The (?:time|job|agent) |\s{0,3}Failed test )|> \S+@\d\S* \S)/

/** npm writes the name of the script, then its command. */
export const scriptName = /^> \S+@\d\S* \S/

/** Successes, skipped tests, warnings, and what is only being read, compiled or installed. */
export const harmless =
  /^\s*(?:✓|✔|√|☑|ok\b(?! *\d* *- *(?:error|fail))|PASS\b|passed\b|Passed\b|✅|⚠|-+ ?(?:PASS|SKIP)|[-+] |\[?(?:warn|warning|note|info|debug|trace|notice|hint|help)\b|npm (?:warn|notice|WARN)|(?:Warning|WARN(?:ING)?)\b|(?:Compiling|Checking|Download(?:ing|ed)|Adding|Installing|Unpacking|Setting up|Selecting|Building|Creating|Copying|Collecting|Using|Requirement already|Get:\d|Fetching|Linking|Running|Adding|Updating|Resolving|creating|inflating|adding)\b)|\.{3} (?:ok|ignored|skipped)$|\b(?:PASSED|SKIPPED|XFAIL|XPASS)\b|\[(?:INFO|DEBUG|WARN|WARNING)\]|\b(?:level=(?:info|debug|warn)|INFO|DEBUG|TRACE)\b/

/** The successes of which logs are full. They are left out first. */
export const success =
  /^(?:\s*(?:✓|✔|√|ok \d+ |test \S.* \.\.\. ok$)|\[INFO\] (?!BUILD ))|[ \]](?:PASSED|SKIPPED|XFAIL)(?: +\[ *\d+%\])?$/

/** "0 failed", "no errors", "failures: 0", but not "error: no error page". */
export const zeroCount =
  /^(?!\W{0,6}(?:error|fatal): (?!0\b|none)).*?(?:\b(?:0|no|zero|without(?: any)?|never) (?:[\w-]+ ){0,2}(?:errors?|fail(?:s|ed|ing|ures?)?|exceptions?|problems?|panics?)\b|\b(?:errors?|fail(?:s|ed|ing|ures?)?|exceptions?)(?: count)?["']?(?:: ?| ?= ?|\t| {2,})(?:0\b|none|null|false|no\b|nil|\[\]))/i

/** "1.5 s ERROR …", "web-1 | …", "#8 0.412 …", "cart:test: …": who wrote the row, or when. */
export const prefix =
  /^(?:#\d{1,4} (?:\d{1,5}\.\d{1,3} )?|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]?\d{0,9}(?:Z| ?[+-]\d\d:?\d\d)?\]?:? +|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]? +|[@\w./-]{1,80}:[a-z][\w-]{0,40}: (?=\S)|[\w.-]{1,60} +\| |\[(?!(?:ERROR|FATAL|WARN|WARNING|INFO|DEBUG|error|warn|info)\])[\w@/:.-]{1,60}\] (?=\s*\S))/

/** A name or path such as "error-page.ts", "thiserror" or "--fail-fast" is no such word. */
const word =
  /(?<![\w./@:$"'`*{-])(?:errors?|failed|fails|failures?|failing|fatal|panic(?:ked)?|exception|crash(?:ed)?|abort(?:ed|ing)?|denied|refused|rejected|unreachable|timed out|timeout|giving up|not found|cannot|could not|unable to|unexpected|unhandled|uncaught)(?![\w/@=*}"'`-]|\.\w|\(|: ?0\b)/i

export const general: Family = {
  name: 'any program',
  gap: 50,
  shapes: [
    {
      begins:
        /exit(?:ed|s)?(?: with)?(?: (?:non-zero|error))? (?:code|status)|non-zero exit|returned (?:a )?non-zero|exited with \d/i,
      weight: weights.epilogue,
    },
    {
      begins: /^\s*(?:Uncaught )?[\w$.:]*\w(?:Error|Exception)(?: \[\w+\])?(?:: |$)/,
      weight: weights.exception,
    },
    { begins: /^\W{0,6}(?:fatal|panic|critical|unhandled|uncaught)\b/i, weight: weights.complaint },
    {
      begins:
        /^\W{0,6}(?:error|err|failed|failure|exception)\b(?:\[\w{1,20}\]|\(\w{1,20}\))?(?:[:!\]]|$| -| {2,}|\t)/i,
      weight: weights.complaint,
    },
    { begins: /^\W{0,6}(?:ERROR|FAIL|FAILED|FATAL)\b/, weight: weights.complaint },
    { begins: /^[\w./-]{1,60}: \S+:\d+: \S/, weight: weights.exception },
    {
      begins:
        /^(?:can't|cannot|couldn't|could not|unable to|failed to|no such|unknown|invalid|unexpected|unsupported|missing|illegal) /i,
      weight: weights.complaint,
    },
    {
      begins: /^[\w./ -]{1,80}: (?:fatal |internal )?(?:error|ERROR|Error|fatal|FATAL):? /,
      weight: weights.complaint,
    },
    {
      begins: /(?:^|\s)(?:level=(?:error|fatal)|\[?(?:ERROR|FATAL|CRITICAL)\]?)(?:[:\s]|$)/,
      weight: weights.complaint,
    },
    { begins: word, weight: weights.mention },
  ],
}

/** Most rows of most logs have none of this, and are looked at no further unless they are red. */
export const hasCue = (text: string): boolean =>
  cueStart.test(text) || cueWord.test(text) || cueLocation.test(text)

const cueWord =
  /error|fail|fatal|panic|exception|not found|no such|cannot|denied|refused|undefined|unable|killed|abort|reject|could not|invalid|timed? ?out|unexpected|uncaught|unhandled|giving up|crash|unbound|not set|exit/i
const cueLocation = /\.\w{1,5}:\d|\):\d/
const cueStart =
  /^(?:\s*(?:[✖✗✘×✕●→𐄂🚨*!#│╷╵|]|\d+\) |not ok|---? |Traceback|\d+ - )|E {2}|[A-Z]{1,7}\d{3}|=+ |\d+% tests|\d+ (?:passed|failed|files?|examples?|tests|runs)|OK|Found |In |[Ee]: |go: |\[(?:warn|ERROR|The|This|INFO\] BUILD|  FAILED)|Tests?:? |would reformat|Rebuild|BUILD |Passed!|make|g?make\[|Missing |Refused|CONFLICT|Oops!|level=|Caused by|CMake |Success:|All checks|ssh: |\*|Host key|docker: |nox > |\(stdin\)|Killed|Segmentation|Bus |Illegal |Aborted|Floating |Can't |Could not |Bundler |rake |> Task|ℹ fail|_{3})/u
