import { describe, expect, it } from 'vitest'
import { refuseDockerfile } from './rules.ts'

describe('refuseDockerfile', () => {
  const from = 'must not have a FROM instruction'
  it.each([
    ['at the beginning', 'FROM alpine'],
    ['behind others, in lower case', 'RUN true\nfrom alpine AS build'],
    ['behind white space, in mixed case', '  \tFrom alpine'],
    ['behind a no-break space', '\u00a0FROM alpine'],
    ['behind U+0085, which is white space to builders', '\u0085FROM alpine'],
    ['behind a byte order mark', '\ufeffFROM alpine'],
    ['behind carriage return and line feed', 'RUN true\r\nFROM alpine'],
    ['behind a lone carriage return', 'RUN true\rFROM alpine'],
    ['over two lines', 'FROM \\\n alpine'],
    ['over two lines without a space', 'FROM\\\n alpine'],
    ['with its word over two lines', 'FR\\\nOM alpine'],
    ['with its word over many lines', 'F\\\nR\\\nO\\\nM alpine'],
    ['with its word over two lines and a comment between', 'FR\\\n# note\nOM alpine'],
    ['with white space behind the backslash', 'FR\\ \t\nOM alpine'],
    ['alone', 'FROM'],
    ['behind a comment that ends in a backslash', '# RUN a \\\nFROM alpine'],
    ['behind a continued instruction with a blank line in it', 'RUN a\\\n\n# note\n b\nFROM alpine'],
    ['behind two backslashes, which end a line for some', 'RUN echo \\\\\nFROM alpine'],
    ['behind a backslash and a comment to the end', 'RUN a \\\n# FROM b\n\nFROM alpine\nFROM c'],
    ['in ONBUILD', 'ONBUILD FROM alpine'],
    ['in ONBUILD in ONBUILD', 'onbuild ONBUILD\tfrom alpine'],
    ['in ONBUILD over two lines', 'ONBUILD \\\n  FROM alpine'],
    ['in a here-document, which older builders do not know', 'RUN <<EOF\nFROM alpine\nEOF'],
    ['behind a here-document', 'RUN <<EOF\necho\nEOF\nFROM alpine'],
    ['behind a here-document that ends in a backslash', 'RUN <<"X\\"\necho\nX\\\nFROM alpine'],
    ['behind an indented here-document', 'RUN <<-EOF\n\techo\n\tEOF\nFROM alpine'],
    ['behind two here-documents', 'COPY <<A <<B /x/\na\nA\nb\nB\nFROM alpine'],
    ['behind a here-document that is never ended', 'RUN <<EOF\nFROM alpine'],
    ['with the platform of another machine', 'FROM --platform=linux/arm64 alpine'],
    ['from nothing', 'FROM scratch'],
  ])('refuses FROM %s', (_, dockerfile) => {
    expect(refuseDockerfile(dockerfile)).toContain(from)
  })

  it.each([
    ['a stage that does not exist', 'COPY --from=build /a /b'],
    ['an image', 'COPY --from=localhost/millrace/other:v1 /a /b'],
    ['a stage by its number', 'COPY --from=0 a b'],
    ['what a variable says', 'ARG X=alpine\nCOPY --from=$X / /all'],
    ['behind another flag', 'COPY --chown=1:1 --from=alpine / /all'],
    ['in lower case and over two lines', 'copy --fr\\\nom=alpine / /all'],
    ['in quotes', 'COPY "--from=alpine" / /all'],
    ['with an escaped letter', 'COPY --fr\\om=alpine / /all'],
    ['in ONBUILD', 'ONBUILD COPY --from=alpine / /all'],
  ])('refuses COPY --from %s', (_, dockerfile) => {
    expect(refuseDockerfile(dockerfile)).toContain('must not COPY --from')
  })

  it.each([
    ['of another image', 'RUN --mount=type=bind,from=localhost/millrace/other:v1,target=/x cp /x/secret /'],
    ['of another image, short', 'RUN --mount=from=alpine,target=/x true'],
    ['of a cache that all builds share', 'RUN --mount=type=cache,target=/var/cache/apt true'],
    ['of a secret', 'RUN --mount=type=secret,id=a true'],
    ['of a tmpfs that is none', 'RUN --mount=type=tmpfs,from=alpine,target=/x true'],
    ['behind one that is allowed', 'RUN --network=none --mount=from=alpine,target=/x true'],
    ['in quotes', 'RUN "--mount=from=alpine,target=/x" true'],
    ['in ONBUILD', 'ONBUILD RUN --mount=from=alpine,target=/x true'],
    ['of the host’s network', 'RUN --network=host curl localhost'],
    ['of the host’s rights', 'RUN --security=insecure mount /dev/sda /mnt'],
    ['of a device', 'RUN --device=/dev/kvm true'],
  ])('refuses the use in RUN %s', (_, dockerfile) => {
    expect(refuseDockerfile(dockerfile)).toContain('must not have RUN with flags')
  })

  it.each([
    'ADD http://169.254.169.254/latest/meta-data /x',
    'ENV U=http://127.0.0.1\nADD $U /x',
    'add a b',
    'A\\\nDD a b',
  ])('refuses ADD, which the engine would fetch by itself: %j', (dockerfile) => {
    expect(refuseDockerfile(dockerfile)).toContain('must not have an ADD instruction')
  })

  it.each([
    '# syntax=docker.example.com/evil',
    '# escape=`\nRUN true',
    '#Escape = `',
    '# a note\n#check=skip=all',
    '// syntax=evil',
    '\ufeff# syntax=evil',
  ])('refuses parser directives: %j', (dockerfile) => {
    expect(refuseDockerfile(dockerfile)).toContain('parser directive')
  })

  it.each(['ONBU\u0130LD FROM alpine', 'F\u0280OM alpine', 'RUN true\nＦＲＯＭ alpine', 'FROM\u00a0alpine'])(
    'refuses words in other alphabets: %j',
    (dockerfile) => {
      expect(refuseDockerfile(dockerfile)).not.toBeNull()
    },
  )

  it.each([
    '',
    '\n\n',
    'RUN echo FROM here',
    '# FROM alpine',
    'RUN echo \\\nFROM here',
    'RUN echo \\\n# a note\nFROM here',
    'FROMAGE x',
    'RUN apt-get update && apt-get install -y nodejs',
    'RUN --network=none true',
    'RUN --mount=type=tmpfs,target=/tmp make',
    'COPY <<EOF /etc/motd\nhello\nEOF',
    'RUN <<EOF\nset -e\napt-get install -y git \\\n  curl\nEOF\nENV A=b',
    'ENV FROM=x\nLABEL a="--from=b"',
    'RUN cp --from=x a',
    'RUN true\n# escape=`',
    'ONBUILD RUN true',
  ])('lets through %j', (dockerfile) => {
    expect(refuseDockerfile(dockerfile)).toBeNull()
  })

  it.each(['a\\\n', '\\\n', '<<A ', 'RUN <<A\n', ' ', '#\n', "'\n"])(
    'reads %j many times over, and finds FROM behind it',
    (line) => {
      expect(refuseDockerfile(line.repeat(20_000 / line.length))).toBeNull()
      expect(refuseDockerfile(`${line.repeat(20_000 / line.length)}\n\nA\nFROM alpine`)).not.toBeNull()
    },
  )

  it('lets through a long line of white space', () => {
    expect(refuseDockerfile(`RUN a${' '.repeat(99_000)}b`)).toBeNull()
  })
})
