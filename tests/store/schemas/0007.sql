BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id TEXT NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	created_by TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	last_used FLOAT, 
	revoked FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "access_tokens" VALUES('f26f3155c5','daemon','login3','submit','54e00109ae23c06c5f38e60eb858655593bcf59d3b2b70378e0cd7a2997278c4',1.79535977193716287615e+09,'root',1.79795177193716287609e+09,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0007');
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79535975384351468089e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.79535975385579943657e+09);
CREATE TABLE components (
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	component INTEGER NOT NULL, 
	cluster TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	reserves BOOLEAN NOT NULL, 
	seq INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	step TEXT NOT NULL, 
	reservation BOOLEAN NOT NULL, 
	started BOOLEAN NOT NULL, 
	native_id TEXT, 
	submit_time FLOAT, 
	hosts TEXT NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	cause TEXT, 
	detail TEXT NOT NULL, term BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1.79535975502859187127e+09,'vm',1.79535975510956192016e+09,1.7953597551107037067e+09,0,NULL,'',0);
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.79535975668436503412e+09,'vm',1.79535975675070357321e+09,1.79535975679070377349e+09,3,'exit','',0);
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.79535975914642143254e+09,'vm',1.79535975969070363041e+09,1.79535975973188805581e+09,0,NULL,'',0);
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.79535975913946604723e+09,'vm',1.79535975963070368764e+09,1.79535975972600865364e+09,0,NULL,'',0);
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'gone','',0,1,'4',1.79535976877611613269e+09,'vm',1.7953597689541225433e+09,1.79535976899212455747e+09,0,NULL,'',0);
INSERT INTO "components" VALUES(6,1,0,'delft',2,0,5,'started','',0,1,'5',1.79535977238990807538e+09,'vm',1.79535977242670392994e+09,NULL,NULL,NULL,'RUNNING',0);
INSERT INTO "components" VALUES(7,1,0,'delft',4,1,6,'started','',1,1,'6',1.79535977327387666702e+09,'vm',1.79535977344670391077e+09,NULL,NULL,NULL,'RUNNING',0);
INSERT INTO "components" VALUES(7,1,1,'leiden',4,1,6,'started','',1,1,'2',1.79535977328301548953e+09,'vm',1.79535977342605495448e+09,NULL,NULL,NULL,'RUNNING',0);
INSERT INTO "components" VALUES(8,1,0,'delft',2,0,7,'started','',0,1,'7',1.79535977382039833071e+09,'vm',1.79535977385990405076e+09,NULL,NULL,NULL,'RUNNING',0);
INSERT INTO "components" VALUES(9,1,0,'delft',1,0,8,'started','clean',0,1,'8',1.79535977538969087601e+09,'vm',1.79535977541070413589e+09,NULL,NULL,NULL,'RUNNING',0);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79535975495161223406e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79535975495161223406e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79535975495161223406e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.7953597550983335972e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.79535975513069558139e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(6,1.79535975513069558139e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.79535975513069558139e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.79535975665437912943e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.79535975665437912943e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.79535975665437912943e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.79535975671899795534e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79535975677481675141e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.7953597569707574845e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.7953597569707574845e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1.79535975886026763917e+09,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1.79535975886026763917e+09,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1.79535975900360536571e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79535975911546778673e+09,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79535975911546778673e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79535975915657091146e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(21,1.79535975921998667715e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(22,1.79535975921998667715e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1.79535975929912185664e+09,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.79535975937595653536e+09,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.79535975959753823279e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.79535975984356093405e+09,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.79535975984356093405e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(28,1.79535975992292952535e+09,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(29,1795359759.98559,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1795359759.98559,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1.79535976441834115979e+09,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.79535976672068810461e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.79535976672068810461e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.79535976871992826462e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.79535976871992826462e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(36,1.79535976872970771791e+09,5,1,'files sent','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10}');
INSERT INTO "events" VALUES(37,1.79535976872970771791e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(38,1.79535976884703445434e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(39,1.79535976911590218537e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(40,1.79535976911590218537e+09,5,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(41,1.7953597692772903442e+09,5,1,'results back','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10, "folder": "@FOLDER@/metabroker-5.0"}');
INSERT INTO "events" VALUES(42,1.7953597692772903442e+09,5,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(43,1.7953597723808009624e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(44,1.7953597723808009624e+09,6,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(45,1.7953597723808009624e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(46,1.79535977239386653901e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(47,1.79535977246870231622e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.7953597732373597622e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(49,1.7953597732373597622e+09,7,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(50,1.79535977325884914396e+09,7,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(51,1.79535977326241230969e+09,7,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(52,1.79535977326241230969e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(53,1.79535977328172230722e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(54,1.79535977329321932787e+09,7,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(55,1.79535977329321932787e+09,7,1,'waiting','{}');
INSERT INTO "events" VALUES(56,1.79535977334563088417e+09,7,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.79535977335639977455e+09,7,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(58,1.79535977340279221531e+09,7,1,'opened','{}');
INSERT INTO "events" VALUES(59,1.79535977343688368801e+09,7,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(60,1.79535977348171377175e+09,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(61,1.79535977381239271162e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(62,1.79535977381239271162e+09,8,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(63,1.79535977381239271162e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(64,1.79535977383019900322e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(65,1.79535977387069630622e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(66,1.79535977538192772868e+09,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(67,1.79535977538192772868e+09,9,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(68,1.79535977538192772868e+09,9,1,'submitting','{}');
INSERT INTO "events" VALUES(69,1.79535977539310193061e+09,9,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "8"}');
INSERT INTO "events" VALUES(70,1.79535977544770765303e+09,9,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(71,1.79535977610103869442e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(72,1.79535977628990364076e+09,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(73,1.79535977645475077627e+09,12,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(74,1.79535977662412548063e+09,13,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(75,1.79535977877851605413e+09,9,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','fcdcbad5');
INSERT INTO "facts" VALUES('batch','cd139e8a016cea16');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [12, [], []]}');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	sizes JSON NOT NULL, 
	clusters JSON, 
	queue TEXT NOT NULL, 
	local TEXT, 
	home TEXT, 
	time_limit INTEGER NOT NULL, 
	submit_time FLOAT NOT NULL, 
	seq INTEGER NOT NULL, 
	queued_at FLOAT NOT NULL, 
	attempt INTEGER NOT NULL, 
	submission_failures INTEGER NOT NULL, 
	completion_failures INTEGER NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	deadline FLOAT, 
	goal TEXT, 
	"by" TEXT NOT NULL, stages_in BOOLEAN DEFAULT 0 NOT NULL, stages_out BOOLEAN DEFAULT 0 NOT NULL, uncertain TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79535975495161223406e+09,1,1.79535975495161223406e+09,1,0,0,1.79535975510956192016e+09,1.79535975513069558139e+09,0,NULL,NULL,'',0,0,NULL);
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.79535975665437912943e+09,2,1.79535975665437912943e+09,1,0,1,1.79535975675070357321e+09,1.7953597569707574845e+09,3,NULL,NULL,'',0,0,NULL);
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1.79535975886026763917e+09,3,1.79535975886026763917e+09,1,0,0,1.79535975959753823279e+09,1795359759.98559,0,NULL,NULL,'',0,0,NULL);
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1.79535976441834115979e+09,0,0.0,0,0,0,NULL,1.79535976672068810461e+09,NULL,NULL,NULL,'root',0,0,NULL);
INSERT INTO "jobs" VALUES(5,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79535976871992826462e+09,4,1.79535976871992826462e+09,1,0,0,1.7953597689541225433e+09,1.7953597692772903442e+09,0,NULL,NULL,'',1,1,NULL);
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.7953597723808009624e+09,5,1.7953597723808009624e+09,1,0,0,1.79535977242670392994e+09,NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.7953597732373597622e+09,6,1.7953597732373597622e+09,1,0,0,1.79535977340279221531e+09,NULL,NULL,1.79536340340279221535e+09,NULL,'',0,0,NULL);
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79535977381239271162e+09,7,1.79535977381239271162e+09,1,0,0,1.79535977385990405076e+09,NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "jobs" VALUES(9,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1.79535977538192772868e+09,8,1.79535977538192772868e+09,1,0,0,1.79535977541070413589e+09,NULL,NULL,NULL,'cancel','root',0,0,NULL);
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79535977610103869442e+09,9,1.79535977610103869442e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1.79535977628990364076e+09,10,1.79535977628990364076e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "jobs" VALUES(12,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1.79535977645475077627e+09,11,1.79535977645475077627e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "jobs" VALUES(13,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79535977662412548063e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL);
CREATE TABLE leadership (
	only INTEGER NOT NULL, 
	term BIGINT NOT NULL, 
	holder TEXT NOT NULL, 
	expires FLOAT NOT NULL, claim TEXT DEFAULT '' NOT NULL, seconds FLOAT DEFAULT '0' NOT NULL, renewals BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (only), 
	UNIQUE (term)
);
CREATE TABLE requests (
	id INTEGER NOT NULL, 
	broker TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	caller JSON NOT NULL, 
	body JSON NOT NULL, 
	expires FLOAT NOT NULL, 
	taken BIGINT, 
	answered BOOLEAN DEFAULT 0 NOT NULL, 
	answer JSON, 
	PRIMARY KEY (id)
);
CREATE TABLE scripts (
	job INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	request_id TEXT, 
	secret TEXT NOT NULL, 
	script BLOB NOT NULL, 
	spec JSON NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (user, request_id)
);
INSERT INTO "scripts" VALUES(1,'root','4d985cb1-c4fa-4cc8-944e-a34df6ac8f1c','2.1f650bf46a37813db645b94a',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(2,'root','328beb3b-fdd8-4290-b15c-cf480e6c13f4','2.02660064ab941b84d92cf972',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["3", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(3,'root','d69267fd-d950-427e-abda-7cca02016759','2.03f58e0c391323750145b0a4',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(4,'root','79f68414-50d0-4c95-bba1-f4fc2c095775','2.175c7116d11bd82e59523186',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(5,'root','d736b9c5-044b-41b3-9af8-d979c27e7b82','2.5e932a4018fb64380050da4d',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": ["input"], "stage_out": ["*"], "submit_dir": "@FOLDER@", "owner": null}');
INSERT INTO "scripts" VALUES(6,'root','e1353845-22be-4181-b8ce-328540681f84','2.a30dd1592533381281cf2a27',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(7,'root','ed7f0f7f-313c-4ca9-91c8-d2a289ce7e12','2.f34776dfd2172dc578df5828',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(8,'root','once','2.30d4733abdc283233c3a40e8',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(9,'root','f378064b-8af3-42ea-a6fc-b66841364874','2.dbf8b537c172f0f943d981e7',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(10,'root','066c56e5-c2f6-4c3e-8750-6311462d8292','2.917e9862ab6220c31b51e1b0',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(11,'root','e989dc8a-0805-4b48-adea-c8b9dad1276d','2.66d502f3e5ebcc13425266e7',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(12,'root','79df28b0-9c08-4865-a207-84749506e078','2.c3e2b6b7cf35948a2f0fe3ed',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(13,'root','8f07c72d-6d62-4517-b409-297632ea1a3f','2.507278f4f5ba09fdcbde6d7c',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
CREATE INDEX components_by_phase ON components (phase);
CREATE INDEX components_by_seq ON components (seq);
CREATE INDEX events_by_job ON events (job);
CREATE INDEX jobs_by_end ON jobs (end_time);
CREATE INDEX jobs_by_state ON jobs (state);
CREATE INDEX access_tokens_by_user ON access_tokens (user);
COMMIT;
