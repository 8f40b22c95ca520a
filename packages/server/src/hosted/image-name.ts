/**
 * `registry.example.com:5000/team/tools:v1@sha256:…`. Other characters could have a meaning in the path of an engine's API or
 * in a Dockerfile. A plain hexadecimal number is refused, because engines read it as the prefix of an image id, which could
 * be another tenant's image.
 */
export const isImageName = (text: string): boolean =>
  text.length <= 500 && !/^[0-9a-f]+$/i.test(text) && pattern.test(text)

const pattern =
  /^[A-Za-z0-9][\w.-]*(:\d{1,5}(?=\/))?(\/[A-Za-z0-9][\w.-]*)*(:[\w][\w.-]{0,127})?(@[a-z0-9]+:[0-9a-f]{32,128})?$/
