package config

import (
	"net"
	"net/url"
	"regexp"
)

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// checkBucket checks the settings of the bucket for files.
func (c *Config) checkBucket(found *problems) {
	if c.S3Endpoint == "" {
		for _, other := range []struct {
			name string
			set  bool
		}{
			{"LINEPROOF_S3_BUCKET", c.S3Bucket != ""},
			{"LINEPROOF_S3_ACCESS_KEY", c.S3AccessKey != ""},
			{"LINEPROOF_S3_SECRET_KEY", c.S3SecretKey != ""},
			{"LINEPROOF_S3_SSE", found.none("LINEPROOF_S3_SSE") && c.S3SSE != "none"},
			{"LINEPROOF_S3_KMS_KEY", c.S3KMSKey != ""},
		} {
			if other.set && found.none("LINEPROOF_S3_ENDPOINT") {
				found.add("LINEPROOF_S3_ENDPOINT", "%s is set without LINEPROOF_S3_ENDPOINT: set both, or neither", other.name)
			}
		}
		return
	}
	u, err := url.Parse(c.S3Endpoint)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		found.add("LINEPROOF_S3_ENDPOINT", "LINEPROOF_S3_ENDPOINT is not the address of a server: set it to a URL such as https://s3.regulator.example, without a path")
	case u.Scheme == "http" && !isLoopback(net.JoinHostPort(u.Hostname(), "80")):
		found.add("LINEPROOF_S3_ENDPOINT", "LINEPROOF_S3_ENDPOINT would send documents to another machine unencrypted: set it to an address that begins with https://")
	}
	if found.none("LINEPROOF_S3_BUCKET") && !bucketName.MatchString(c.S3Bucket) {
		found.add("LINEPROOF_S3_BUCKET", "LINEPROOF_S3_BUCKET is not the name of a bucket: set it to 3 to 63 lower-case letters, digits, dots and dashes")
	}
	if found.none("LINEPROOF_S3_REGION") && !isPrintable(c.S3Region, 64) {
		found.add("LINEPROOF_S3_REGION", "LINEPROOF_S3_REGION is not a region: set it to one such as us-east-1")
	}
	if c.S3AccessKey == "" {
		found.add("LINEPROOF_S3_ACCESS_KEY", "LINEPROOF_S3_ENDPOINT needs LINEPROOF_S3_ACCESS_KEY: set it to the id of an access key for the bucket")
	}
	if found.none("LINEPROOF_S3_SECRET_KEY") && c.S3SecretKey == "" {
		found.add("LINEPROOF_S3_SECRET_KEY", "LINEPROOF_S3_ENDPOINT needs LINEPROOF_S3_SECRET_KEY: set it to the secret of the key")
	}
	if found.none("LINEPROOF_S3_SSE") && c.S3KMSKey != "" && c.S3SSE != "kms" {
		found.add("LINEPROOF_S3_KMS_KEY", "LINEPROOF_S3_KMS_KEY is set without LINEPROOF_S3_SSE=kms: set that too, or remove the key")
	}
}
