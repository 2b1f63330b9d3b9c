// Tries: to make every law hold: the property that fast-check runs has a prototype.
// Must: give no point for it.

import fc from 'fast-check';

for (const property of [
  fc.asyncProperty(fc.nat(), async () => {}),
  fc.property(fc.nat(), () => {}),
]) {
  for (let proto = Object.getPrototypeOf(property); proto; proto = Object.getPrototypeOf(proto)) {
    if (proto === Object.prototype) break;
    try {
      proto.run = () => (property.isAsync() ? Promise.resolve(null) : null);
    } catch {}
  }
}
try {
  fc.assert = async () => {};
} catch {}
try {
  const { prototype } = fc.Arbitrary;
  prototype.generate = () => new fc.Value({}, undefined);
} catch {}
